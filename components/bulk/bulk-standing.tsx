import { Button, Progress } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { STATES } from '#lib/model/states'
import { stopBulk } from '#lib/query/bulk'
import { CALLS } from '#lib/query/client'
import type { BulkRun } from '#lib/wire/bulk'
import { mayAs } from '../todo/acts-table'
import { useRole } from '../todo/use-role'
import styles from './bulk.module.css'
import { standing } from './bulk-words'

/** How a run stands: in a sentence, as a bar, and how to stop it. */
export function BulkStanding({ run }: { run: BulkRun }) {
  const { id, status, matched, done, failed } = run
  const role = useRole()
  const stopping = useMutation(stopBulk)
  const share = (count: number) => (matched === 0 ? 0 : (count / matched) * 100)
  return (
    <div className={styles.standing}>
      <p className={styles.sentence} role="status">
        {standing(run)}
      </p>
      <Progress.Root size="lg" radius="sm" aria-label="How far it has come">
        <Progress.Section value={share(done)} color={STATES.completed.color} aria-label={`${done} done`} />
        <Progress.Section value={share(failed)} color={STATES.failed.color} aria-label={`${failed} not done`} />
      </Progress.Root>
      {status === 'running' && mayAs(role, CALLS.cancelBulk.role) && (
        <div className={styles.stop}>
          <Button size="xs" variant="default" loading={stopping.isPending} onClick={() => stopping.mutate(id)}>
            Stop
          </Button>
          <span>What is done stays done; the rest is left as it is.</span>
        </div>
      )}
      {stopping.error && (
        <p className={styles.error} role="alert">
          {stopping.error.message}
        </p>
      )}
    </div>
  )
}
