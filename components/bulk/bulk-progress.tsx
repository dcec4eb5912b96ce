import { Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import Link from 'next/link'
import { bulkOf } from '#lib/query/bulk'
import { BulkStanding } from './bulk-standing'

/** How far a run that has just been ordered has come. It goes on whoever looks. */
export function BulkProgress({ id, onClose }: { id: string; onClose: () => void }) {
  const { data: run, error } = useQuery(bulkOf(id))
  return (
    <>
      {error && !run && <p role="alert">{error.message}</p>}
      {run && <BulkStanding run={run} />}
      <Group justify="flex-end" mt="lg" gap="sm">
        <Button variant="default" component={Link} href={`/bulk/${id}`}>
          All results
        </Button>
        <Button onClick={onClose} data-autofocus>
          {run?.status === 'running' ? 'Close, it goes on' : 'Close'}
        </Button>
      </Group>
    </>
  )
}
