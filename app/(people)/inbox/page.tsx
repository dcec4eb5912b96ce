import { Inbox } from '#components/inbox/inbox'
import { gate } from '../../gate'

export const metadata = { title: 'Inbox' }

export default async function InboxPage() {
  await gate('/inbox')
  return <Inbox />
}
