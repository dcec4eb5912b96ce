import { describe, expect, test } from 'vitest'
import type { ErrorCode } from '#lib/model/errors'
import { INTERRUPTS, isTerminal, STATE_NAMES, type State } from '#lib/model/states'
import { landings, TRANSITIONS, type Transition } from '#lib/model/transitions'
import type { Todo } from '#lib/wire/todo'
import { database } from '../support/database'
import { given, now } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf } from '../support/refusal'
import { type Act, HOLDER_VERBS, OTHER_VERBS, SWEEPS } from '../support/verbs'

const { db, sql } = database()
keepsInvariants(db)

const ROWS: Partial<Record<string, Transition>> = TRANSITIONS
const HELD: readonly State[] = ['claimed', ...INTERRUPTS]

describe.each(STATE_NAMES)('a todo that is %s', (state) => {
  test.each(acts(HOLDER_VERBS))('meets its holder’s %s', async (verb, act) => {
    const todo = await given(db, state)
    expect(await codeOf(act(db, todo))).toBe(expectedOfHolder(verb, state))
    await landed(verb, todo.todo)
  })

  test.each(acts(HOLDER_VERBS))('meets a stranger’s %s', async (_, act) => {
    const todo = await given(db, state)
    const worker = { ...todo.worker, id: 'endpoint-stranger', name: 'stranger' }
    const code = await codeOf(act(db, { ...todo, worker, held: { ...todo.held, endpointId: worker.id } }))
    expect(code).toBe(isTerminal(state) ? 'todo_terminal' : 'lease_lost')
    expect(await now(db, todo.id)).toEqual(todo.todo)
  })

  test.each(acts(OTHER_VERBS))('meets somebody’s %s', async (verb, act) => {
    const todo = await given(db, state)
    expect(await codeOf(act(db, todo))).toBe(expectedOfOther(verb, state))
    await landed(verb, todo.todo)
  })

  test.each(Object.entries(SWEEPS))('meets the sweep %s', async (verb, sweep) => {
    const todo = await given(db, state, { failures: 1 })
    const swept = await sweep(db, todo)
    expect(swept.map(({ todo }) => todo.id)).toEqual(moves(verb, state) ? [todo.id] : [])
    expect((await now(db, todo.id)).version).toBe(todo.todo.version + swept.length)
  })
})

const acts = (verbs: Record<string, Act>): [string, Act][] => Object.entries(verbs)

const moves = (verb: string, state: State): boolean =>
  verb === 'heartbeat' ? state === 'claimed' : (ROWS[verb]?.from ?? []).includes(state)

// The given todo was ended by its holder's own verb: that verb again is a repeat, whose answer got lost.
const isRepeat = (verb: string, state: State): boolean =>
  isTerminal(state) && [ROWS[verb]?.to, ROWS[verb]?.atCap].includes(state)

function expectedOfHolder(verb: string, state: State): ErrorCode | null {
  if (moves(verb, state) || isRepeat(verb, state)) return null
  if (isTerminal(state)) return 'todo_terminal'
  if (!HELD.includes(state)) return 'lease_lost'
  if (verb === 'interrupt') return 'interrupt_open'
  return verb === 'resume' ? 'not_found' : 'invalid_state'
}

function expectedOfOther(verb: string, state: State): ErrorCode | null {
  if (moves(verb, state) || (verb === 'cancel' && state === 'canceled')) return null
  if (verb === 'answer') return 'not_found'
  return isTerminal(state) ? 'todo_terminal' : 'invalid_state'
}

/** The row stands where its transition leads, with the event that tells so; or exactly as it was. */
async function landed(verb: string, before: Todo): Promise<void> {
  const after = await now(db, before.id)
  const row = ROWS[verb]
  if (!moves(verb, before.state) || !row) {
    return expect({ ...after, ...BEATEN }).toEqual({ ...before, ...BEATEN })
  }
  expect(landings({ ...row, from: [before.state] })).toContain(after.state)
  expect(after.version).toBe(before.version + 1)
  const [last] =
    await sql`SELECT from_state, to_state FROM todo_events WHERE todo_id = ${before.id} ORDER BY id DESC LIMIT 1`
  expect(last).toEqual({ from_state: before.state, to_state: after.state })
}

// All that a heartbeat moves.
const BEATEN = { lease_expires_at: null, updated_at: null }
