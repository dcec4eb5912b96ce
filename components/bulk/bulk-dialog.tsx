import { Button, Group, Modal, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { orderBulk } from '#lib/query/bulk'
import type { Filter } from '#lib/query/filter'
import type { NewBulk } from '#lib/wire/bulk'
import dialog from '../todo/act-dialog.module.css'
import { BulkProgress } from './bulk-progress'
import { among, BULK_WORDS } from './bulk-words'

const LONGEST_REASON = 1000

interface BulkDialogProps {
  order: Omit<NewBulk, 'reason'>
  /** How many todos, in words. */
  amount: string
  /** What the board shows. */
  shown: Filter
  onClose: () => void
}

/** Says what a bulk action brings about, orders it, and shows how far it has come. */
export function BulkDialog({ order, amount, shown, onClose }: BulkDialogProps) {
  const { verb, isDangerous, consequence } = BULK_WORDS[order.action]
  const [reason, setReason] = useState('')
  const ordering = useMutation(orderBulk)
  const id = ordering.data?.bulk_id
  const title = id ? `${verb} ${amount}` : `${verb} ${amount}?`

  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      {id ? (
        <BulkProgress id={id} onClose={onClose} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            ordering.mutate({ ...order, ...(reason.trim() ? { reason: reason.trim() } : {}) })
          }}
        >
          <p className={dialog.consequence}>
            {consequence}
            {among(shown)} What comes in afterwards is left alone.
          </p>
          <TextInput
            label="Reason"
            description="Kept in each todo’s history; not needed."
            value={reason}
            maxLength={LONGEST_REASON}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
            data-autofocus
          />
          {ordering.error && (
            <p className={dialog.error} role="alert">
              {ordering.error.message}
            </p>
          )}
          <Group justify="flex-end" mt="lg" gap="sm">
            <Button variant="default" onClick={onClose}>
              Leave them
            </Button>
            <Button type="submit" loading={ordering.isPending} color={isDangerous ? 'red' : 'blue'}>
              {verb} {amount}
            </Button>
          </Group>
        </form>
      )}
    </Modal>
  )
}
