import { Inbox } from '#components/inbox/inbox'
import { requirePerson } from '#lib/api/require-person'

export const metadata = { title: 'Inbox' }

export default async function InboxPage() {
  await requirePerson('/inbox')
  return <Inbox />
}
