import { connect, Refusal } from '#lib/sdk/sdk'
import type { Card } from '#lib/wire/todo'
import { castFor, QUEUE, revokeCast } from './demo-endpoints'
import { KIND } from './demo-enqueue'
import type { Place } from './demo-switchboard'
import type { View } from './demo-view'

const PAGE = 25

/** Cancels whatever the demo has left live, then revokes its endpoints. */
export async function clean(place: Place, view: View): Promise<void> {
  const { client: token } = await castFor(place, 0)
  const client = connect({ url: place.url, token })
  let canceled = 0
  for (let left = await live(); left.length > 0; left = await live()) {
    const cancel = ({ id }: Card) => client.cancel({ id, reason: 'demo cleaned up' }).catch(unlessEnded)
    await Promise.all(left.map(cancel))
    canceled += left.length
  }
  view.line(`  ${canceled} live todos canceled`)
  if (!place.databaseUrl)
    return view.line('  SWITCHBOARD_TOKEN stays as it is: endpoints are revoked where the database is at hand')
  const names = await revokeCast(place.databaseUrl)
  view.line(names.length > 0 ? `  Revoked: ${names.join(', ')}` : '  No endpoint was left to revoke')

  async function live(): Promise<Card[]> {
    const state = ['pending', 'claimed', 'input-required', 'auth-required', 'waiting'] as const
    return (await client.listTodos({ queue: QUEUE, kind: KIND, state: [...state], limit: PAGE })).todos
  }
}

function unlessEnded(error: unknown): void {
  if (!(error instanceof Refusal) || error.code !== 'todo_terminal') throw error
}
