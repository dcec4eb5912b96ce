import { expect, test } from 'vitest'
import { applyToPrompt, applyToPrompts, closedAs, isMissing, type Prompt, type PromptList } from '#lib/query/prompts'
import { cardOf } from './queue-model'

const ASKED = '00000000-0000-4000-8000-000000000001'
const LATER = '00000000-0000-4000-8000-000000000002'
const asking = cardOf(1, { state: 'input-required', open_interrupt_id: ASKED, version: 3, attempts: 1 })

const prompt = {
  id: ASKED,
  todo_id: asking.id,
  attempt_seq: 1,
  status: 'open',
  title: 'Which licence?',
  expires_at: null,
  todo: asking,
} as Prompt

const list = (...interrupts: Prompt[]): PromptList => ({
  pages: [{ interrupts, next_cursor: null }],
  pageParams: [null],
})
const ids = ({ pages }: PromptList) => pages.flatMap(({ interrupts }) => interrupts.map(({ id }) => id))
const fact = (verb: 'answered' | 'canceled' | 'resumed' | 'requeued' | 'failed') => ({
  event_id: 9,
  todo: null,
  verb,
  from: 'input-required' as const,
  to: verb === 'failed' ? ('failed' as const) : ('claimed' as const),
  reason: null,
  actor: 'user:1',
  attempt_seq: 1,
  lease_epoch: 1,
  at: asking.updated_at,
})

test('a question leaves the list when its todo goes on, and not by an older word of it', () => {
  const goneOn = { ...asking, state: 'claimed' as const, open_interrupt_id: null, version: 4 }
  expect(ids(applyToPrompts(list(prompt), new Map([[asking.id, goneOn]])))).toEqual([])
  const before = { ...goneOn, version: 2 }
  expect(ids(applyToPrompts(list(prompt), new Map([[asking.id, before]])))).toEqual([ASKED])
})

test('a todo that asks again has its new question missing, not the old one', () => {
  const asksAgain = { ...asking, open_interrupt_id: LATER, version: 5 }
  expect(isMissing(list(prompt), [asksAgain])).toBe(true)
  expect(isMissing(list(prompt), [asking])).toBe(false)
  expect(ids(applyToPrompts(list(prompt), new Map([[asking.id, asksAgain]])))).toEqual([])
})

test.each([
  ['answered', 'answered'],
  ['resumed', 'resolved'],
  ['canceled', 'canceled'],
  ['requeued', 'expired'],
  ['failed', 'expired'],
] as const)('a question whose todo was %s is shown as %s', (verb, status) => {
  const goneOn = { ...asking, state: 'claimed' as const, open_interrupt_id: null, version: 4 }
  expect(closedAs(fact(verb))).toBe(status)
  expect(applyToPrompt(prompt, goneOn, [fact(verb)])).toMatchObject({ status, todo: { version: 4 } })
})

test('a late word of an earlier question closes no open one', () => {
  const stillAsking = { ...asking, version: 4 }
  expect(applyToPrompt(prompt, stillAsking, [fact('answered')])).toMatchObject({ status: 'open' })
})
