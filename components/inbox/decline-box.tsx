import { Button, Textarea } from '@mantine/core'
import styles from './prompt-form.module.css'

const LONGEST_COMMENT = 10_000

interface DeclineBoxProps {
  label: string
  comment: string
  disabled: boolean
  isSending: boolean
  onChange(comment: string): void
  onBack(): void
}

/** Asks why, before a question is declined: the agent gets the reason and goes on with it. */
export function DeclineBox({ label, comment, disabled, isSending, onChange, onBack }: DeclineBoxProps) {
  return (
    <div className={styles.declining}>
      <Textarea
        label="Why not?"
        description="The agent is told, and goes on without an answer. The todo’s history keeps it."
        withAsterisk
        autosize
        minRows={2}
        maxRows={12}
        maxLength={LONGEST_COMMENT}
        value={comment}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        disabled={disabled || isSending}
        ref={focusOnce}
      />
      {!disabled && (
        <div className={styles.actions}>
          <Button variant="default" disabled={isSending} onClick={onBack}>
            Back to the answer
          </Button>
          <Button
            className={styles.decline}
            type="submit"
            color="red"
            loading={isSending}
            disabled={comment.trim() === ''}
          >
            {label}
          </Button>
        </div>
      )}
    </div>
  )
}

const focusOnce = (element: HTMLTextAreaElement | null): void => element?.focus()
