import { Button, Group, Modal, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { memoryOf } from '#lib/query/memory'
import { cancelTodo, parkTodo, rejectTodo, requeueTodo } from '#lib/query/todo-acts'
import type { Card } from '#lib/wire/todo'
import { toast } from '../shell/toast'
import { shown, Untrusted } from '../shell/untrusted'
import styles from './act-dialog.module.css'
import { ACTS, type ActName } from './acts-table'
import { type NewLimits, NewLimitsFields, suffices } from './new-limits'

const MUTATIONS = { cancel: cancelTodo, park: parkTodo, reject: rejectTodo, requeue: requeueTodo }
const LONGEST_REASON = 1000

/** Says what an act brings about, and does it. */
export default function ActDialog({ name, card, onClose }: { name: ActName; card: Card; onClose: () => void }) {
  const { label, isDangerous, done, hasReason, consequence } = ACTS[name]
  const [reason, setReason] = useState('')
  const [limits, setLimits] = useState<NewLimits>({})
  const { known } = memoryOf(useQueryClient())
  const act = useMutation(MUTATIONS[name])
  // What it was when the menu opened may be over.
  const latest = known.get(card.id)?.card ?? card

  function confirm(): void {
    act.mutate(
      { id: card.id, ...(reason.trim() ? { reason: reason.trim() } : {}), ...limits },
      {
        onSuccess: () => {
          toast({ title: done, message: shown(card.title), tone: 'good' })
          onClose()
        },
      },
    )
  }

  return (
    <Modal opened onClose={onClose} title={`${label} this todo?`} closeButtonProps={{ 'aria-label': 'Close' }}>
      <p className={styles.title}>
        <Untrusted text={card.title} />
      </p>
      <p className={styles.consequence}>{consequence(latest)}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          confirm()
        }}
      >
        {name === 'requeue' && <NewLimitsFields card={latest} given={limits} onChange={setLimits} />}
        {hasReason && (
          <TextInput
            label="Reason"
            description="Kept in the todo’s history; not needed."
            value={reason}
            maxLength={LONGEST_REASON}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
            data-autofocus
          />
        )}
        {act.error && (
          <p className={styles.error} role="alert">
            {act.error.message}
          </p>
        )}
        <Group justify="flex-end" mt="lg" gap="sm">
          <Button variant="default" onClick={onClose}>
            Leave it
          </Button>
          <Button
            type="submit"
            loading={act.isPending}
            color={isDangerous ? 'red' : 'blue'}
            disabled={name === 'requeue' && !suffices(latest, limits)}
          >
            {label} todo
          </Button>
        </Group>
      </form>
    </Modal>
  )
}
