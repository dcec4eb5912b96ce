import { TodoPage } from '#components/todo/todo-page'
import { gate } from '../../../gate'

export const metadata = { title: 'Todo' }

export default async function TodoPageOf({ params }: { params: Promise<{ id: string }> }) {
  await gate()
  return <TodoPage id={(await params).id} />
}
