import { expect, test } from 'vitest'
import { type Source, sources } from '../support/sources'

const ROOMS = ['lib', 'worker', 'scripts', 'app'].filter((room) => sources().some(({ path }) => path.startsWith(room)))
const MOVE = 'lib/queue/move.ts'

/** The places where a source matches, as `path:line: text`. */
function found({ path, text }: Source, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(({ index, 0: match }) => {
    const line = text.slice(0, index).split('\n').length
    return `${path}:${line}: ${match.replaceAll(/\s+/g, ' ').slice(0, 120)}`
  })
}

// An assignment in an UPDATE (or one that is put together elsewhere and so can't be seen here), a column of an INSERT,
// a state among the columns that a verb gives to move, and Prisma's client.
const WRITES = [
  /\bupdate\s+(?:only\s+)?"?todos"?\s(?:(?!\b(?:from|where|returning)\b)[^`])*?(?:\bstate\s*=|\bset\s+\$\{)/gi,
  /\binsert\s+into\s+"?todos"?\s*\([^)]*\bstate\b[^)]*\)/gi,
  /\bset:\s*\{[^}]*\bstate\s*:/g,
  /\.todos\.(?:create|update|upsert|delete)\w*\(/g,
]

test('only move.ts writes the state of a todo', () => {
  const writers = sources(ROOMS)
    .filter(({ path }) => !path.startsWith('lib/db/generated'))
    .flatMap((source) => WRITES.flatMap((pattern) => found(source, pattern)))
  expect(writers.filter((writer) => !writer.startsWith(`${MOVE}:`))).toEqual([])
  expect(writers).not.toEqual([])
})

test('no file names a folder of somebody’s machine', () => {
  const folders = ['work', 'root', 'home', 'Users', 'tmp', 'mnt'].join('|')
  const pattern = new RegExp(`(?<![\\w.~/@$}*-])/(?:${folders})/[\\w.-]+`, 'g')
  expect(sources().flatMap((source) => found(source, pattern))).toEqual([])
})

test('no file is left with an open end', () => {
  const words = ['TODO', 'FIXME', 'XXX', 'HACK'].join('|')
  const pattern = new RegExp(`(?://|/\\*|#|--|<!--)\\s*(?:${words})\\b.*`, 'g')
  expect(sources().flatMap((source) => found(source, pattern))).toEqual([])
})
