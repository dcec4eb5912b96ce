import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, expect, test } from 'vitest'
import { boundLog, eachLine, openLog, readable } from '#scripts/logs.mjs'

const folder = mkdtempSync(join(tmpdir(), 'switchboard-logs-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('the terminal gets warnings and errors in words, and no other log line', () => {
  const from = { name: 'web', isStderr: false }
  expect(readable('{"level":30,"msg":"hello"}', from)).toBeNull()
  expect(readable('{"level":40,"msg":"slow"}', from)).toMatchObject({
    level: 'warning',
    text: expect.stringMatching(/web: slow$/),
  })
  const error = readable('{"level":50,"msg":"no answer","err":{"message":"timeout"}}', from)
  expect(error).toMatchObject({ level: 'error', text: expect.stringMatching(/web: no answer: timeout$/) })
})

test('what is no log line is shown when it was said on stderr', () => {
  expect(readable('{broken', { name: 'web', isStderr: false })).toBeNull()
  expect(readable('{broken', { name: 'web', isStderr: true })).toEqual({ level: 'error', text: 'web: {broken' })
  expect(readable('  ', { name: 'web', isStderr: true })).toBeNull()
})

test('a log that is full is put aside once, and the log goes on', () => {
  const path = join(folder, 'web.log')
  const log = openLog(path, 20)
  for (const word of ['one', 'two', 'three']) log.write(`${word} ${'.'.repeat(20)}\n`)
  log.close()
  expect(readFileSync(path, 'utf8')).toMatch(/^three/)
  expect(readFileSync(`${path}.1`, 'utf8')).toMatch(/^two/)
})

test('a log that another program writes is cut in place', () => {
  const path = join(folder, 'postgres.log')
  writeFileSync(path, 'x'.repeat(30))
  boundLog(path, 20)
  appendFileSync(path, 'y')
  expect(readFileSync(path, 'utf8')).toBe('y')
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('x'.repeat(30))
})

test('lines arrive whole however the stream was cut, the last one without its end too', async () => {
  const stream = new PassThrough()
  const lines: string[] = []
  eachLine(stream, (line) => lines.push(line))
  for (const part of ['a', 'b\nc', '\n\nlast']) stream.write(part)
  stream.end()
  await new Promise((ended) => stream.on('end', ended))
  expect(lines).toEqual(['ab', 'c', '', 'last'])
})
