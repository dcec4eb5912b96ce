import { createStore } from '#lib/query/store'

/** What a toast says: that something is done, or why it is not. */
export interface Toast {
  title: string
  message?: string
  tone: 'good' | 'bad'
}

/** Whether there was a toast yet, so that the place where they appear is needed. */
export const hasToasts = createStore(false)

const COLORS = { good: 'green', bad: 'red' }

/** Shows a toast; what it takes is loaded when there is a first one. */
export async function toast({ title, message, tone }: Toast): Promise<void> {
  hasToasts.set(true)
  const { notifications } = await import('@mantine/notifications')
  notifications.show({
    title,
    message,
    color: COLORS[tone],
    withBorder: true,
    closeButtonProps: { 'aria-label': 'Dismiss' },
    styles: { description: { color: 'var(--ink-soft)' } },
    autoClose: tone === 'good' ? 4000 : 8000,
  })
}
