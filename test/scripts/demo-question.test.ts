import { expect, test } from 'vitest'
import type { Answer } from '#lib/sdk/sdk'
import { askSchema } from '#lib/wire/ask'
import { parseDemoFlags } from '../../scripts/demo-flags'
import type { Evidence } from '../../scripts/demo-licence'
import { autoAnswer, type Fields, LEFT_OPEN, promptFor, readAnswer, replyWords } from '../../scripts/demo-question'

const ABOUT = { name: 'some', version: '1.0.0', path: 'node_modules/some' }
const EVIDENCE: Evidence = { declared: 'ISC', files: [{ name: 'LICENSE', ids: ['MIT'], excerpt: 'MIT\n```\nLicense' }] }
const CANDIDATES = [
  { licence: 'MIT', says: 'LICENSE' },
  { licence: 'ISC', says: 'the manifest' },
]
const VERDICT = { doubt: 'conflicting' as const, why: 'The manifest says ISC, LICENSE MIT', candidates: CANDIDATES }

const INPUT = { kind: 'input', risk: 'low' } as const

const said = (content: Fields) => ({ action: 'accept', content }) as Answer<Fields>

test('a question is one that can be asked, with the evidence and every choice', () => {
  const prompt = promptFor(ABOUT, EVIDENCE, VERDICT, '"x" is no SPDX expression')
  expect(askSchema.safeParse({ ...prompt, lease_epoch: 1 }).success).toBe(true)
  expect(prompt.message).toContain('**"x" is no SPDX expression**')
  expect(prompt.message).toContain('`node_modules/some/package.json`: `license` is `ISC`')
  expect(prompt.message).toContain('    MIT\n    ```\n    License')
  const { licence } = prompt.schema?.properties ?? {}
  expect(licence && 'oneOf' in licence && licence.oneOf?.map((choice) => choice.const)).toEqual([
    'MIT',
    'ISC',
    LEFT_OPEN,
    'other',
  ])
})

test('an answer settles the licence, or says what is wrong with it', () => {
  expect(readAnswer(said({ licence: 'MIT' }))).toEqual({ licence: 'MIT' })
  expect(readAnswer(said({ licence: 'other', other: ' (mit OR isc) ' }))).toEqual({
    trouble: '" (mit OR isc) " is no SPDX expression',
  })
  expect(readAnswer(said({ licence: 'other', other: '(MIT OR ISC)' }))).toEqual({ licence: 'MIT OR ISC' })
  expect(readAnswer({ action: 'decline', content: null } as Answer<Fields>)).toEqual({ licence: LEFT_OPEN })
})

test('the rule takes the first choice: the files, else the manifest, else none', () => {
  const chosen = (candidates: typeof CANDIDATES) =>
    autoAnswer({ ...INPUT, schema: promptFor(ABOUT, EVIDENCE, { ...VERDICT, candidates }).schema ?? null }).content
      ?.licence
  expect(chosen(CANDIDATES)).toBe('MIT')
  expect(chosen(CANDIDATES.slice(1))).toBe('ISC')
  expect(chosen([])).toBe(LEFT_OPEN)
  expect(autoAnswer({ ...INPUT, schema: null }).content?.licence).toBe(LEFT_OPEN)
})

test('what is to be approved the rule accepts at low risk only', () => {
  const approval = (risk: 'low' | 'medium' | 'high') => autoAnswer({ kind: 'approval', risk, schema: null })
  expect(approval('low')).toMatchObject({ action: 'accept', comment: expect.stringContaining('at low risk') })
  expect(approval('medium').action).toBe('decline')
  expect(approval('high').action).toBe('decline')
})

test('a reply is told in a word', () => {
  expect(replyWords({ action: 'accept' })).toBe('accepted')
  expect(replyWords({ action: 'decline' })).toBe('declined')
  expect(replyWords({ content: { licence: 'MIT' } })).toBe('MIT')
  expect(replyWords({ content: { licence: 'other', other: 'MIT OR ISC' } })).toBe('MIT OR ISC')
})

test('flags are read, and what makes no sense is refused', () => {
  expect(parseDemoFlags(['--auto', '--limit', '5', '--workers', '2', '--pace', '0'], {})).toEqual({
    does: 'review',
    isAuto: true,
    limit: 5,
    workers: 2,
    paceMs: 0,
  })
  expect(parseDemoFlags(['--clean'], {}).does).toBe('clean')
  expect(() => parseDemoFlags(['--workers', '1'], {})).toThrow('from 2 to 20')
  expect(() => parseDemoFlags(['--limit', '1e3'], {})).toThrow('whole number')
  expect(() => parseDemoFlags(['--nope'], {})).toThrow('Usage')
  expect(() => parseDemoFlags([], { npm_config_auto: 'true' })).toThrow('npm run demo -- --auto')
})
