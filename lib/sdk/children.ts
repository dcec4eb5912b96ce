import { isTerminal } from '#lib/model/states'
import { argumentsHash } from '#lib/wire/arguments-hash'
import type { Child } from '#lib/wire/todo'
import type { Client } from './client'
import { Waiting } from './fatal'
import type { Json } from './json'
import type { Lease } from './lease'
import { isPassing, persist } from './persist'

/** A todo to be made as a part of this one. */
export type NewChild = Omit<Parameters<Client['enqueue']>[0], 'parent_id' | 'parent_epoch' | 'queue'> & {
  /** This todo's own unless given. */
  queue?: string
}

/**
 * Makes children, once however often it is reached, and waits until all have ended: this attempt ends here, and the handler
 * is entered anew, where the same call gives them in their order, each with its state and result. A child is known by its
 * `idempotency_key`, else by what it is. The worker's endpoint needs the scope `enqueue`.
 */
export type MakeChildren = (children: readonly NewChild[], options?: { checkpoint?: Json }) => Promise<Child[]>

const MOST_BATCHED = 1000

/** One attempt's way to have parts of its work done by others. */
export function createChildren({ client, lease }: { client: Client; lease: Lease }): MakeChildren {
  const { signal, todo } = lease
  const insist = <Answer>(call: () => Promise<Answer>) =>
    persist(call, { isWorthIt: isPassing, signal }).catch(lease.loseIfLost)

  async function make(children: readonly NewChild[]): Promise<string[]> {
    const keyed = await withKeys(children)
    const ids: string[] = []
    for (let at = 0; at < keyed.length; at += MOST_BATCHED) {
      const todos = keyed
        .slice(at, at + MOST_BATCHED)
        .map((child) => ({ queue: todo.queue, ...child, parent_id: todo.id, parent_epoch: todo.lease_epoch }))
      const { results } = await insist(() => client.enqueueMany({ todos }, { signal }))
      ids.push(...results.map(({ id }) => id))
    }
    return ids
  }

  async function all(): Promise<Map<string, Child>> {
    const found = new Map<string, Child>()
    for (let cursor: string | undefined; ; ) {
      const asked = { id: todo.id, ...(cursor && { cursor }) }
      const page = await insist(() => client.listChildren(asked, { signal }))
      for (const child of page.children) found.set(child.id, child)
      if (page.next_cursor === null) return found
      cursor = page.next_cursor
    }
  }

  return async (children, { checkpoint } = {}) => {
    if (children.length === 0) return []
    const ids = await make(children)
    const byId = await all()
    const made = ids.flatMap((id) => byId.get(id) ?? [])
    if (made.every(({ state }) => isTerminal(state))) return made
    const { id, lease_epoch } = todo
    const leaving = {
      id,
      lease_epoch,
      ...(checkpoint !== undefined && { checkpoint }),
      ...(lease.usage && { usage: lease.usage }),
    }
    await lease.whileParking(() => insist(() => client.wait(leaving, { signal }))).catch(unlessDone)
    const after = await endedSince(ids)
    if (after) return after
    lease.lose(new Waiting())
    throw signal.reason
  }

  // The last of them may end between the look and the wait: then there is nothing to wait for, and the attempt goes on.
  function unlessDone(error: unknown): void {
    if ((error as { code?: string }).code !== 'no_children') throw error
  }

  async function endedSince(ids: readonly string[]): Promise<Child[] | null> {
    const { todo: now } = await insist(() => client.getTodo({ id: todo.id }, { signal }))
    if (now.state !== 'claimed' || now.lease_epoch !== todo.lease_epoch) return null
    const byId = await all()
    return ids.flatMap((id) => byId.get(id) ?? [])
  }
}

/** A key for each that has none: what it is, and its number among those that are the same. */
async function withKeys(children: readonly NewChild[]) {
  const seen = new Map<string, number>()
  const keyed = []
  for (const child of children) {
    if (child.idempotency_key !== undefined) {
      keyed.push(child)
      continue
    }
    const hash = await argumentsHash(child as unknown as Json)
    const nth = (seen.get(hash) ?? 0) + 1
    seen.set(hash, nth)
    keyed.push({ ...child, idempotency_key: `${hash}/${nth}` })
  }
  return keyed
}
