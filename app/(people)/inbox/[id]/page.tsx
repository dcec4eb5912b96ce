import { Inbox } from '#components/inbox/inbox'
import { requirePerson } from '#lib/api/require-person'

export const metadata = { title: 'Inbox' }

export default async function QuestionPage({ params }: { params: Promise<{ id: string }> }) {
  await requirePerson(`/inbox/${(await params).id}`)
  return <Inbox />
}
