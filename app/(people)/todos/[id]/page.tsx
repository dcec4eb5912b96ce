import { TodoPage } from '#components/todo/todo-page'
import { gate, type Visited } from '../../../gate'

export const metadata = { title: 'Todo' }

export default async function TodoPageOf({ params, searchParams }: Visited & { params: Promise<{ id: string }> }) {
  await gate(`/todos/${(await params).id}`, await searchParams)
  return <TodoPage id={(await params).id} />
}
