import { describe, expect, test } from 'vitest'
import { INTERRUPTS, isTerminal, LIVE, STATE_NAMES, STATES, type State, TERMINAL } from '#lib/model/states'
import { landings, READY_REASONS, TRANSITIONS, type Transition, VERBS } from '#lib/model/transitions'

const ROWS = Object.entries(TRANSITIONS) as [string, Transition][]

const WITH_ATTEMPT: State[] = ['claimed', 'waiting', ...INTERRUPTS]

test('every state is either live or has ended', () => {
  expect([...LIVE, ...TERMINAL].sort()).toEqual([...STATE_NAMES].sort())
  expect(LIVE.filter((state) => TERMINAL.includes(state))).toEqual([])
  expect(INTERRUPTS).toEqual(['input-required', 'auth-required'])
})

test('every state that a transition can reach can be left again', () => {
  const reached = new Set(ROWS.flatMap(([, row]) => landings(row)))
  const left = new Set(ROWS.flatMap(([, row]) => row.from))
  expect([...reached].filter((state) => !left.has(state))).toEqual(['completed'])
})

test('every live state that can be reached ends without any client, by a worker or the reaper', () => {
  const reached = LIVE.filter((state) => ROWS.some(([, row]) => landings(row).includes(state)))
  const moving = (state: State) => ROWS.filter(([, { by, from }]) => /worker|reaper/.test(by) && from.includes(state))
  expect(reached.filter((state) => moving(state).length === 0)).toEqual([])
})

describe.each(ROWS)('%s', (_, row) => {
  test('closes the attempt where one is open and it leads to a state that has none', () => {
    const opened = row.from.some((state) => WITH_ATTEMPT.includes(state))
    const ends = landings(row).some((state) => !WITH_ATTEMPT.includes(state))
    expect(row.closes !== undefined).toBe(opened && ends)
  })

  test('opens a question only on the way into an interrupt, and closes it on the way out', () => {
    const into = row.to !== 'same' && landings(row).every((state) => INTERRUPTS.includes(state))
    const outOf = row.from.some((state) => INTERRUPTS.includes(state))
    expect(row.interrupt === 'opens').toBe(into)
    expect(row.interrupt !== undefined && row.interrupt !== 'opens').toBe(outOf && !into && row.to !== 'same')
  })

  test('clears the lease where nobody holds the todo afterwards', () => {
    const mayBeHeld = landings(row).some((state) => state === 'claimed' || INTERRUPTS.includes(state))
    const allowed = landings(row).includes('claimed')
      ? ['takes', 'keeps']
      : mayBeHeld
        ? ['keeps', 'clears']
        : ['clears']
    expect(allowed).toContain(row.lease)
  })

  test('dead-letters only an execution that it ends', () => {
    if (row.atCap)
      expect({ to: row.to, closes: row.closes?.outcome }).toEqual({ to: 'pending', closes: expect.any(String) })
    expect(VERBS).toContain(row.verb)
  })
})

test('whatever lands in pending tells the ready hook why', () => {
  const verbs = ROWS.filter(([, row]) => landings(row).includes('pending')).map(([, { verb }]) => verb)
  expect(verbs.filter((verb) => !(verb in READY_REASONS))).toEqual([])
})

test('what ends a todo leaves no way on but a requeue', () => {
  const on = ROWS.filter(([, row]) => row.from.some(isTerminal)).map(([name]) => name)
  expect(on).toEqual(['requeue'])
  expect(TRANSITIONS.requeue.from).not.toContain('completed')
})

test('each state has its own look', () => {
  const lamps = STATE_NAMES.map((state) => STATES[state].lamp)
  expect(new Set(lamps).size).toBe(lamps.length)
})
