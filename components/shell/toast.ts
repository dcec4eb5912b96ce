/** What a toast says: that something is done, or why it is not. */
export interface Toast {
  title: string
  message?: string
  tone: 'good' | 'bad'
}

const COLORS = { good: 'green', bad: 'red' }

/** Shows a toast, where the page has Mantine's Notifications; they are loaded when there is a first one. */
export async function toast({ title, message, tone }: Toast): Promise<void> {
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
