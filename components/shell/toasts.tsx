import { Notifications } from '@mantine/notifications'

/** Where toasts appear, and are read out. */
export default function Toasts() {
  return <Notifications position="bottom-right" limit={3} />
}
