import { Board } from '#components/board/board'
import { gate } from '../../gate'

export const metadata = { title: 'Board' }

export default async function BoardPage() {
  await gate()
  return <Board />
}
