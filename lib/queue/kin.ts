import type { Db } from '#lib/db/connect'
import { isTerminal, LIVE } from '#lib/model/states'
import { TRANSITIONS } from '#lib/model/transitions'
import type { Todo } from '#lib/wire/todo'
import type { Moved } from './moved'
import type { Plan } from './plan'

/** Which todos a statement takes: those without parent and live children, those the caller has locked with theirs, or any. */
export type Kin = 'lone' | 'kin' | 'any'

/** What `move` was asked for. */
export interface Moving {
  plan: Plan
  rows: readonly object[]
  params: unknown[]
}

type MoveOnce = (db: Db, moving: Moving, kin: Kin) => Promise<Moved[]>

/** SQL: whether the end of `todos t` concerns no other row. The number of live children is the locked row's own. */
export const LONE = '(t.parent_id IS NULL AND t.live_children = 0)'

// As the index has it that finds them.
const IN_FAMILY = '(t.parent_id IS NOT NULL OR t.live_children <> 0)'

/** A part of a move: takes those that ended off their parents' count. None of them is the parent of another. */
export const LEAVE_PARENTS = `left_parents AS (
  UPDATE todos u SET live_children = u.live_children - e.n, version = u.version + 1, updated_at = now()
  FROM (SELECT parent_id, count(*)::int AS n FROM moved WHERE completed_at IS NOT NULL AND parent_id IS NOT NULL GROUP BY 1) e
  WHERE u.id = e.parent_id)`

interface Kindred {
  id: string
  parent_id: string | null
  depth: number
}

/**
 * The rest of a move that may end todos: those with a parent or live children, in a transaction that locks parents before
 * children. Each takes itself off its parent's count; the last child continues a parent that waits; the live children of
 * what ended are canceled, level by level. Returns what the move itself was about.
 */
export async function moveKin(
  db: Db,
  moving: Moving,
  { lone, moveOnce }: { lone: readonly Moved[]; moveOnce: MoveOnce },
): Promise<Moved[]> {
  const found = await ('swept' in moving.plan.pick ? findSwept(db, moving, lone.length) : findNamed(db, moving, lone))
  if (found.length === 0) return []
  return db.transaction(async (tx) => {
    const locked = await lock(tx, found, 'swept' in moving.plan.pick)
    const moved: Moved[] = []
    // Deepest first, so that no statement ends a child and its parent.
    for (const depth of [...new Set(locked.map((one) => one.depth))].sort((a, b) => b - a)) {
      const ids = locked.filter((one) => one.depth === depth).map(({ id }) => id)
      moved.push(...(await moveOnce(tx, only(moving, ids), 'kin')))
    }
    await settle(tx, moved, moveOnce)
    return moved
  })
}

function findNamed(db: Db, { rows }: Moving, lone: readonly Moved[]): Promise<Kindred[]> | Kindred[] {
  const done = new Set(lone.map(({ todo }) => todo.id))
  const ids = rows.map((row) => (row as { id: string }).id).filter((id) => !done.has(id))
  if (ids.length === 0) return []
  return db.query<Kindred>({
    name: 'find_kin',
    text: `SELECT t.id, t.parent_id, t.depth FROM todos t WHERE t.id = ANY($1) AND ${IN_FAMILY}`,
    values: [ids],
  })
}

async function findSwept(db: Db, { plan, rows, params }: Moving, taken: number): Promise<Kindred[]> {
  const { swept, limit } = plan.pick as { swept: string; limit: number }
  if (taken >= limit) return []
  const input = Object.entries(plan.input ?? {}).map(([column, type]) => `${column} ${type}`)
  const given = input.length > 0 ? `jsonb_to_record($1::jsonb -> 0) AS i(${input.join(', ')})` : '(SELECT $1::jsonb) i'
  const states = TRANSITIONS[plan.transition].from.map((state) => `'${state}'`).join(', ')
  return db.query<Kindred>({
    name: `find_kin_${plan.transition}`,
    text: `SELECT t.id, t.parent_id, t.depth FROM ${given} CROSS JOIN todos t
      WHERE t.state IN (${states}) AND (${swept}) AND ${IN_FAMILY} ORDER BY t.id LIMIT ${limit}`,
    values: [JSON.stringify(rows), ...params],
  })
}

/** Locks these and their parents, parents first. A sweep leaves out what is locked or whose parent is; anybody else waits. */
async function lock(tx: Db, found: readonly Kindred[], isSweep: boolean): Promise<Kindred[]> {
  const ids = found.flatMap(({ id, parent_id }) => (parent_id ? [id, parent_id] : [id]))
  const rows = await tx.query<{ id: string }>({
    name: isSweep ? 'lock_kin_free' : 'lock_kin',
    text: `SELECT id FROM todos WHERE id = ANY($1) ORDER BY depth, id FOR UPDATE${isSweep ? ' SKIP LOCKED' : ''}`,
    values: [[...new Set(ids)]],
  })
  const locked = new Set(rows.map(({ id }) => id))
  return found.filter(({ id, parent_id }) => locked.has(id) && (parent_id === null || locked.has(parent_id)))
}

/** The same move of these todos alone. */
function only({ plan, rows, params }: Moving, ids: readonly string[]): Moving {
  if ('swept' in plan.pick) {
    const { swept, limit } = plan.pick
    const among = `$${params.length + 2}::text[]`
    return {
      plan: { ...plan, pick: { swept: `(${swept}) AND t.id = ANY(${among})`, limit } },
      rows,
      params: [...params, ids],
    }
  }
  const wanted = new Set(ids)
  return { plan, rows: rows.filter((row) => wanted.has((row as { id: string }).id)), params }
}

const CANCEL_CHILD: Plan = { transition: 'cancel', variant: 'child', pick: { named: 'true' }, reason: `'parent_ended'` }

const CHILDREN_DONE: Plan = {
  transition: 'childrenDone',
  variant: 'last_child',
  pick: { named: 't.live_children = 0' },
  set: { available_at: 'now()' },
}

/** What follows from the ends among these moves: their live children are canceled, parents nobody keeps waiting continue. */
async function settle(tx: Db, moved: readonly Moved[], moveOnce: MoveOnce): Promise<void> {
  const ended = moved.map(({ todo }) => todo).filter(({ state }) => isTerminal(state))
  for (let level = ended; level.length > 0; ) level = await cancelChildren(tx, level, moveOnce)
  const parents = new Set(ended.flatMap(({ parent_id }) => parent_id ?? []))
  if (parents.size > 0)
    await moveOnce(tx, { plan: CHILDREN_DONE, rows: [...parents].map((id) => ({ id })), params: [] }, 'any')
}

async function cancelChildren(tx: Db, ended: readonly Todo[], moveOnce: MoveOnce): Promise<Todo[]> {
  const parents = ended.filter(({ live_children }) => live_children > 0).map(({ id }) => id)
  if (parents.length === 0) return []
  const children = await tx.query<{ id: string }>({
    name: 'lock_children',
    text: `SELECT id FROM todos WHERE parent_id = ANY($1) AND state IN (${LIVE.map((state) => `'${state}'`).join(', ')})
      ORDER BY depth, id FOR UPDATE`,
    values: [parents],
  })
  const rows = children.map(({ id }) => ({ id, actor: 'system' }))
  return (await moveOnce(tx, { plan: CANCEL_CHILD, rows, params: [] }, 'kin')).map(({ todo }) => todo)
}
