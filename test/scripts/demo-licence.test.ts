import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ROOT } from '#scripts/instance.mjs'
import { canonical, judge, readEvidence } from '../../scripts/demo-licence'
import { licencesIn } from '../../scripts/demo-licence-texts'
import { findPackages } from '../../scripts/demo-packages'

const home = mkdtempSync(join(tmpdir(), 'switchboard-licences-'))
afterAll(() => rmSync(home, { recursive: true }))

/** A folder with these files. */
function folder(name: string, files: Record<string, string>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name, path)), { recursive: true })
    writeFileSync(join(home, name, path), text)
  }
  return join(home, name)
}

const manifest = (fields: object) => JSON.stringify({ name: 'some', version: '1.0.0', ...fields })
const installed = (path: string) => readFileSync(join(ROOT, 'node_modules', path), 'utf8')
const MIT = installed('react/LICENSE')

test('known licences are told by their words, in the order in which they stand', () => {
  expect(licencesIn(MIT)).toEqual(['MIT'])
  expect(licencesIn(installed('typescript/LICENSE.txt'))).toEqual(['Apache-2.0'])
  expect(licencesIn(installed('semver/LICENSE'))).toEqual(['ISC'])
  expect(licencesIn(installed('tslib/LICENSE.txt'))).toEqual(['0BSD'])
  expect(licencesIn(installed('axe-core/LICENSE'))).toEqual(['MPL-2.0'])
  expect(licencesIn(`${installed('semver/LICENSE')}\n\n${MIT}`)).toEqual(['ISC', 'MIT'])
  expect(licencesIn('All rights reserved.')).toEqual([])
})

test('manifest and file that agree need nobody, and neither does a manifest alone', () => {
  const both = folder('agree', { 'package.json': manifest({ license: 'MIT' }), LICENSE: MIT })
  expect(judge(readEvidence(both))).toEqual({ licence: 'MIT', basis: 'manifest and file' })
  const alone = folder('alone', { 'package.json': manifest({ license: '(MIT OR Apache-2.0)' }) })
  expect(judge(readEvidence(alone))).toEqual({ licence: 'MIT OR Apache-2.0', basis: 'manifest' })
  const either = folder('either', { 'package.json': manifest({ license: '(MIT OR Apache-2.0)' }), 'license-mit': MIT })
  expect(judge(readEvidence(either))).toEqual({ licence: 'MIT OR Apache-2.0', basis: 'manifest and file' })
})

test('the two forms that npm once had are read too', () => {
  const old = folder('old', { 'package.json': manifest({ licenses: [{ type: 'MIT' }, { type: 'Apache-2.0' }] }) })
  expect(readEvidence(old).declared).toBe('(MIT OR Apache-2.0)')
  const older = folder('older', { 'package.json': manifest({ license: { type: 'ISC', url: 'https://example.org' } }) })
  expect(readEvidence(older).declared).toBe('ISC')
})

test('a licence that is missing, unknown or conflicting is for a person, with what it might be', () => {
  const missing = folder('missing', { 'package.json': manifest({}), 'LICENCE.md': MIT })
  expect(judge(readEvidence(missing))).toMatchObject({
    doubt: 'missing',
    candidates: [{ licence: 'MIT', says: 'LICENCE.md' }],
  })
  const nothing = folder('nothing', { 'package.json': manifest({ license: ' ' }) })
  expect(judge(readEvidence(nothing))).toMatchObject({ doubt: 'missing', candidates: [] })
  const unknown = folder('unknown', { 'package.json': manifest({ license: 'SEE LICENSE IN terms.txt' }), LICENSE: MIT })
  expect(judge(readEvidence(unknown))).toMatchObject({
    doubt: 'unknown',
    why: expect.stringContaining('no SPDX expression'),
  })
  const conflicting = folder('conflicting', { 'package.json': manifest({ license: 'ISC' }), LICENSE: MIT })
  expect(judge(readEvidence(conflicting))).toMatchObject({
    doubt: 'conflicting',
    candidates: [
      { licence: 'MIT', says: 'LICENSE' },
      { licence: 'ISC', says: 'the manifest' },
    ],
  })
  const part = folder('part', { 'package.json': manifest({ license: 'MIT AND ISC' }), LICENSE: MIT })
  expect(judge(readEvidence(part))).toMatchObject({ doubt: 'conflicting' })
  const more = folder('more', {
    'package.json': manifest({ license: 'MIT' }),
    LICENSE: `${MIT}${installed('semver/LICENSE')}`,
  })
  expect(judge(readEvidence(more))).toMatchObject({
    doubt: 'conflicting',
    candidates: [{ licence: 'MIT AND ISC' }, { licence: 'MIT' }],
  })
})

test('a GNU licence agrees with its text, whichever versions count', () => {
  const text = 'GNU LESSER GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007'
  const lgpl = folder('lgpl', { 'package.json': manifest({ license: 'LGPL-3.0-or-later' }), COPYING: text })
  expect(judge(readEvidence(lgpl))).toEqual({ licence: 'LGPL-3.0-or-later', basis: 'manifest and file' })
})

test('an expression has one spelling', () => {
  expect(canonical('((MIT or ISC) and Apache-2.0)')?.text).toBe('(MIT OR ISC) AND Apache-2.0')
  expect(canonical('Apache-2.0 WITH LLVM-exception')?.text).toBe('Apache-2.0 WITH LLVM-exception')
  expect(canonical('Custom licence')).toBeNull()
})

test('every installed copy of a package is found, nested and scoped ones too', () => {
  const root = folder('root', {
    'node_modules/a/package.json': manifest({ name: 'a' }),
    'node_modules/a/node_modules/b/package.json': manifest({ name: 'b', version: '2.0.0' }),
    'node_modules/@scope/b/package.json': manifest({ name: '@scope/b' }),
    'node_modules/b/package.json': manifest({ name: 'b', version: '1.0.0' }),
    'node_modules/b/test/fixture/package.json': manifest({ name: 'fixture' }),
    'node_modules/.bin/package.json': manifest({ name: 'bin' }),
    'node_modules/broken/package.json': '{',
  })
  expect(
    findPackages(root)
      .map(({ path }) => path)
      .sort(),
  ).toEqual(['node_modules/@scope/b', 'node_modules/a', 'node_modules/a/node_modules/b', 'node_modules/b'])
})

test('what is installed here is reviewed without a failure, and most of it without a person', () => {
  const verdicts = findPackages(ROOT).map(({ path }) => judge(readEvidence(join(ROOT, path))))
  expect(verdicts.length).toBeGreaterThanOrEqual(300)
  const doubtful = verdicts.filter((verdict) => 'doubt' in verdict)
  expect(doubtful.length).toBeGreaterThan(0)
  expect(doubtful.length).toBeLessThan(verdicts.length / 10)
})
