import { describe, expect, test } from 'vitest'
import type { ErrorCode } from '#lib/model/errors'
import { INTERRUPTS, isTerminal, STATE_NAMES, type State } from '#lib/model/states'
import { landings, TRANSITIONS, type Transition } from '#lib/model/transitions'
import { database } from '../support/database'
import { type Circumstances, type Given, given, now } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf } from '../support/refusal'
import { type Act, EFFECT_VERBS, HOLDER_VERBS, OTHER_VERBS, SWEEPS } from '../support/verbs'

const { db, sql } = database()
keepsInvariants(db)

const ROWS: Partial<Record<string, Transition>> = { ...TRANSITIONS, parkForHolder: TRANSITIONS.park }

/** How a todo stands: its state, and for a question whether its worker holds it. */
interface Standing {
  name: string
  state: State
  mode: 'hold' | 'park' | null
  circumstances: Circumstances
}

const isInterrupt = (state: State): boolean => INTERRUPTS.includes(state)

const STANDINGS: Standing[] = STATE_NAMES.flatMap((state): Standing[] => {
  if (!isInterrupt(state)) return [{ name: state, state, mode: null, circumstances: {} }]
  return (['hold', 'park'] as const).map((mode) => ({
    name: `${state} (${mode})`,
    state,
    mode,
    circumstances: { question: { mode } },
  }))
})

describe.each(STANDINGS)('a todo that is $name', (standing) => {
  const { state, circumstances } = standing

  test.each(acts(HOLDER_VERBS))('meets its holder’s %s', async (verb, act) => {
    const todo = await given(db, state, circumstances)
    expect(await codeOf(act(db, todo))).toBe(expectedOfHolder(verb, standing))
    await landed(verb, standing, todo)
  })

  test.each(acts(HOLDER_VERBS))('meets a stranger’s %s', async (_, act) => {
    const todo = await given(db, state, circumstances)
    expect(await codeOf(act(db, asStranger(todo)))).toBe(isTerminal(state) ? 'todo_terminal' : 'lease_lost')
    expect(await now(db, todo.id)).toEqual(todo.todo)
  })

  test.each(acts(OTHER_VERBS))('meets somebody’s %s', async (verb, act) => {
    const todo = await given(db, state, circumstances)
    expect(await codeOf(act(db, todo))).toBe(expectedOfOther(verb, standing))
    await landed(verb, standing, todo)
  })

  test.each(acts(EFFECT_VERBS))('lets what is known of its effect be said: %s', async (verb, act) => {
    const todo = await given(db, state, { ...circumstances, effect: {} })
    expect(await codeOf(act(db, todo))).toBeNull()
    expect(await sql`SELECT status, settled_by FROM effects WHERE todo_id = ${todo.id}`).toEqual([
      { status: 'confirmed', settled_by: verb === 'settleEffect' ? 'user:operator-1' : null },
    ])
    expect(await now(db, todo.id)).toEqual(todo.todo)
  })

  test('knows no stranger’s word about its effect', async () => {
    const todo = await given(db, state, { ...circumstances, effect: {} })
    expect(await codeOf(EFFECT_VERBS.reportEffect(db, asStranger(todo)))).toBe('lease_lost')
    expect(await sql`SELECT status FROM effects WHERE todo_id = ${todo.id}`).toEqual([{ status: 'begun' }])
    expect(await now(db, todo.id)).toEqual(todo.todo)
  })

  test.each(acts(EFFECT_VERBS))('has no effect that was never begun: %s', async (_, act) => {
    const todo = await given(db, state, circumstances)
    expect(await codeOf(act(db, todo))).toBe('not_found')
    expect(await now(db, todo.id)).toEqual(todo.todo)
  })

  test.each(Object.entries(SWEEPS))('meets the sweep %s', async (verb, sweep) => {
    const todo = await given(db, state, { ...circumstances, failures: 1 })
    // What another test left past a deadline goes with it.
    const swept = (await sweep(db, todo)).filter((one) => one.todo.id === todo.id)
    expect(swept).toHaveLength(moves(verb, standing) ? 1 : 0)
    const after = await now(db, todo.id)
    const ofChildren = state === 'waiting' && swept.length === 1 ? 1 : 0
    expect(after.version).toBe(todo.todo.version + swept.length + ofChildren)
  })
})

const acts = (verbs: Record<string, Act>): [string, Act][] => Object.entries(verbs)

const asStranger = (todo: Given): Given => {
  const worker = { ...todo.worker, id: 'endpoint-stranger', name: 'stranger' }
  return { ...todo, worker, held: { ...todo.held, endpointId: worker.id } }
}

// Of the verbs on an open question, those that are for one its worker holds, and those for one that is parked.
const FOR_HELD = ['expireInterrupt', 'park', 'parkForHolder', 'resume']
const FOR_PARKED = ['expireParked']

function moves(verb: string, { state, mode }: Standing): boolean {
  if (!(ROWS[verb]?.from ?? []).includes(state)) return false
  return !((mode === 'park' && FOR_HELD.includes(verb)) || (mode === 'hold' && FOR_PARKED.includes(verb)))
}

const holdsStill = (verb: string, { state }: Standing): boolean =>
  (verb === 'heartbeat' || verb === 'beginEffect') && state === 'claimed'

// The given todo was ended by its holder's own verb, or parked by it: that verb again is a repeat, whose answer got lost.
const isRepeat = (verb: string, { state, mode }: Standing): boolean =>
  (isTerminal(state) && [ROWS[verb]?.to, ROWS[verb]?.atCap].includes(state)) ||
  (verb === 'park' && mode === 'park') ||
  (verb === 'wait' && state === 'waiting')

function expectedOfHolder(verb: string, standing: Standing): ErrorCode | null {
  const { state, mode } = standing
  if (moves(verb, standing) || holdsStill(verb, standing) || isRepeat(verb, standing)) return null
  if (isTerminal(state)) return 'todo_terminal'
  if (state !== 'claimed' && mode !== 'hold') return 'lease_lost'
  if (verb.startsWith('interrupt')) return 'interrupt_open'
  return verb === 'resume' ? 'not_found' : 'invalid_state'
}

function expectedOfOther(verb: string, standing: Standing): ErrorCode | null {
  const { state, mode } = standing
  if (moves(verb, standing) || (verb === 'cancel' && state === 'canceled')) return null
  if (verb === 'parkForHolder' && mode === 'park') return null
  if (verb === 'answer') return 'not_found'
  return isTerminal(state) ? 'todo_terminal' : 'invalid_state'
}

/** The row stands where its transition leads, with the event that tells so; or exactly as it was. */
async function landed(verb: string, standing: Standing, { todo: before }: Given): Promise<void> {
  const after = await now(db, before.id)
  const row = landing(verb, standing)
  if (!moves(verb, standing) || !row) {
    return expect({ ...after, ...BEATEN }).toEqual({ ...before, ...BEATEN })
  }
  expect(landings({ ...row, from: [before.state] })).toContain(after.state)
  // Beside its own move: the child it makes to wait for, the one that ends with it.
  const ofChildren = verb === 'wait' || (before.state === 'waiting' && isTerminal(after.state)) ? 1 : 0
  expect(after.version).toBe(before.version + 1 + ofChildren)
  const [last] =
    await sql`SELECT verb, from_state, to_state FROM todo_events WHERE todo_id = ${before.id} ORDER BY id DESC LIMIT 1`
  expect(last).toEqual({ verb: row.verb, from_state: before.state, to_state: after.state })
}

const landing = (verb: string, { mode }: Standing): Transition | undefined =>
  verb === 'answer' && mode === 'park' ? TRANSITIONS.answerParked : ROWS[verb]

// All that a heartbeat moves.
const BEATEN = { lease_expires_at: null, updated_at: null }
