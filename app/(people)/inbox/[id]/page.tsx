import { Inbox } from '#components/inbox/inbox'
import { gate } from '../../../gate'

export const metadata = { title: 'Inbox' }

export default async function QuestionPage({ params }: { params: Promise<{ id: string }> }) {
  await gate(`/inbox/${(await params).id}`)
  return <Inbox />
}
