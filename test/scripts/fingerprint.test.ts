import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fingerprint, isMadeFrom, make } from '#scripts/fingerprint.mjs'
import { ROOT } from '#scripts/instance.mjs'

let folder = ''
let sources = ''
const file = (name: string) => join(folder, 'sources', name)

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchboard-print-'))
  sources = relative(ROOT, join(folder, 'sources'))
  mkdirSync(file('deep'), { recursive: true })
  writeFileSync(file('one'), '1')
  writeFileSync(file('deep/two'), '2')
})
afterEach(() => rmSync(folder, { recursive: true }))

test('the same contents have the same fingerprint, whenever they were written', () => {
  const before = fingerprint([sources])
  writeFileSync(file('one'), '1')
  expect(fingerprint([sources])).toBe(before)
})

test('a change, a new file, another name and a missing file each change it', () => {
  const prints = [fingerprint([sources])]
  const changes = [
    () => writeFileSync(file('deep/two'), '3'),
    () => writeFileSync(file('three'), ''),
    () => renameSync(file('one'), file('uno')),
    () => rmSync(file('uno')),
  ]
  for (const change of changes) {
    change()
    prints.push(fingerprint([sources]))
  }
  expect(new Set(prints).size).toBe(5)
})

test('what is excepted does not count', () => {
  const except = [`${sources}/deep`]
  const before = fingerprint([sources], { except })
  writeFileSync(file('deep/two'), '3')
  expect(fingerprint([sources], { except })).toBe(before)
})

test('a folder counts as made only when its making came to an end', async () => {
  const made = relative(ROOT, join(folder, 'made'))
  await make(made, 'a', async () => {})
  expect([isMadeFrom(made, 'a'), isMadeFrom(made, 'b')]).toEqual([true, false])
  await expect(make(made, 'a', () => Promise.reject(new Error('killed')))).rejects.toThrow('killed')
  expect(isMadeFrom(made, 'a')).toBe(false)
})
