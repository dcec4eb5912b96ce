import { Board } from '#components/board/board'
import { gate, type Visited } from '../../gate'

export const metadata = { title: 'Board' }

export default async function BoardPage({ searchParams }: Visited) {
  await gate('/board', await searchParams)
  return <Board />
}
