import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { isTerminal, type State } from '#lib/model/states'
import type { Caller } from '#lib/wire/caller'
import type { Todo } from '#lib/wire/todo'
import { refuse, seesQueue } from './why-not'

/** How deep children may nest, and how many of one parent may be alive at once. */
const DEEPEST = 16
const MOST_LIVE = 10_000

/** A child to be made: its parent, the lease its maker says to hold it by, and the JSON pointer to where it is given. */
export interface Child {
  parentId: string
  parentEpoch: number | undefined
  pointer: string
}

interface Parent {
  id: string
  queue: string
  state: State
  depth: number
  live_children: number
  owner_endpoint_id: string | null
  lease_epoch: number
}

/**
 * Locks the parents of these children until the transaction ends and returns their depths by id. Refuses with not_found,
 * invalid_state (the parent has ended), lease_lost (the caller does not hold it by that epoch; an operator needs none) and
 * validation_failed (no epoch, nested too deep, too many children).
 */
export async function lockParents(db: Db, children: readonly Child[], caller: Caller): Promise<Map<string, number>> {
  if (children.length === 0) return new Map()
  const ids = [...new Set(children.map(({ parentId }) => parentId))]
  const parents = await db.query<Parent>({
    name: 'lock_parents',
    text: `SELECT id, queue, state, depth, live_children, owner_endpoint_id, lease_epoch FROM todos
      WHERE id = ANY($1) ORDER BY depth, id FOR UPDATE`,
    values: [ids],
  })
  const byId = new Map(parents.map((parent) => [parent.id, parent]))
  for (const child of children) mayAdd(byId.get(child.parentId), child, caller)
  for (const { id, live_children } of parents) mustHold(id, live_children, children)
  return new Map(parents.map(({ id, depth }) => [id, depth]))
}

function mayAdd(parent: Parent | undefined, { parentEpoch, pointer }: Child, caller: Caller): void {
  if (!parent || !seesQueue(caller, parent.queue)) throw new Refusal('not_found', { detail: 'There is no such parent' })
  if (isTerminal(parent.state)) throw refuse('invalid_state', parent, `The parent is ${parent.state}`)
  mustBeHolder(parent, { parentEpoch, pointer }, caller)
  if (parent.depth >= DEEPEST) throw invalid(`${pointer}/parent_id`, `children nest ${DEEPEST} deep at most`)
}

function mustBeHolder(parent: Parent, { parentEpoch, pointer }: Omit<Child, 'parentId'>, caller: Caller): void {
  if (parentEpoch === undefined) {
    if (caller.type === 'person' || caller.scopes.includes('operate')) return
    throw invalid(`${pointer}/parent_epoch`, 'is required of the holder')
  }
  const endpointId = caller.type === 'endpoint' ? caller.id : null
  if (parent.owner_endpoint_id === endpointId && parent.lease_epoch === parentEpoch) return
  throw refuse('lease_lost', parent, `Epoch ${parentEpoch} does not hold the parent`)
}

function mustHold(id: string, live: number, children: readonly Child[]): void {
  const added = children.filter(({ parentId }) => parentId === id)
  const first = added[Math.max(0, MOST_LIVE - live)]
  if (first) throw invalid(`${first.pointer}/parent_id`, `a todo has ${MOST_LIVE} live children at most`)
}

const invalid = (pointer: string, message: string) =>
  new Refusal('validation_failed', { errors: [{ pointer, message }] })

/** Counts these, just made or put back, as live children of their parents, which the transaction has locked. */
export async function addToParents(db: Db, todos: readonly Pick<Todo, 'parent_id'>[]): Promise<void> {
  const ids = todos.flatMap(({ parent_id }) => parent_id ?? [])
  if (ids.length === 0) return
  await db.query({
    name: 'add_to_parents',
    text: `UPDATE todos u SET live_children = u.live_children + c.n, version = u.version + 1, updated_at = now()
      FROM (SELECT id, count(*)::int AS n FROM unnest($1::text[]) AS k(id) GROUP BY 1) c WHERE u.id = c.id`,
    values: [ids],
  })
}
