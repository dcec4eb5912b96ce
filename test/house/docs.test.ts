import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { METRICS } from '#lib/model/metrics'
import { ROOT } from '#scripts/instance.mjs'
import { VARIABLES } from '../../lib/model/variables.mjs'
import { referencePages } from '../../scripts/docs'
import { sources } from '../support/sources'

const pages = () => sources().filter(({ path }) => path.endsWith('.md'))

test.each([...referencePages()])('%s says what the tables say', (path, text) => {
  const stands = existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : ''
  expect(stands, 'npm run docs makes it anew').toBe(text)
})

test('every link in the documents leads somewhere', () => {
  const dead = pages().flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]*))?\)/g)]
      .filter(([, file = '', anchor]) => !leads({ from: path, file, anchor }))
      .map(([link]) => `${path}: ${link}`),
  )
  expect(dead).toEqual([])
})

interface Link {
  from: string
  file: string
  anchor: string | undefined
}

function leads({ from, file, anchor }: Link): boolean {
  const target = join(ROOT, file ? normalize(join(dirname(from), file)) : from)
  if (!existsSync(target)) return false
  return anchor === undefined || anchorsOf(readFileSync(target, 'utf8')).includes(anchor)
}

const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

test('the alert rules ask for metrics and labels that there are', () => {
  const rules = readFileSync(join(ROOT, 'docs/operations/alerts.yml'), 'utf8')
  const exprs = [...rules.matchAll(/^ +expr: (.+)$/gm)].map(([, expr = '']) => expr)
  expect(exprs[0]).toContain('switchboard_queue_oldest_pending_seconds')
  for (const expr of exprs) {
    const metrics = (expr.match(/\bswitchboard_\w+/g) ?? []) as (keyof typeof METRICS)[]
    const labels = [...expr.matchAll(/by \((\w+)\)|\{(\w+)=/g)].map(([, by, matched]) => by ?? matched)
    expect(metrics.length, expr).toBeGreaterThan(0)
    for (const metric of metrics)
      expect(METRICS[metric]?.labels, `${metric} in ${expr}`).toEqual(expect.arrayContaining(labels))
  }
})

test('every npm script that the documents name exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const named = pages().flatMap(({ text }) =>
    [...text.matchAll(/\bnpm run (?:-s )?([a-z:-]+)/g)].map(([, name]) => name),
  )
  expect(named.filter((name) => !(`${name}` in scripts))).toEqual([])
})

// What the test runner says to the tests, and nobody else to anybody.
const OF_THE_TESTS = ['SWITCHBOARD_PROVE', 'SWITCHBOARD_TEST_DOOR']

const named = (rooms: RegExp) =>
  sources()
    .filter(({ path }) => rooms.test(path))
    .flatMap(({ text }) => text.match(/\b(?:SWITCHBOARD_[A-Z_]+|(?:TEST_)?DATABASE_URL)\b/g) ?? [])

test('every variable that anything reads has a row in the table, and every row has a reader', () => {
  const readers = named(/^(?!test\/|lib\/model\/variables|.*\.md$)/)
  expect(new Set(readers.filter((name) => name !== 'TEST_DATABASE_URL'))).toEqual(new Set(Object.keys(VARIABLES)))
})

test('the readme explains every variable that the product reads from its environment', () => {
  const read = named(/^(lib|worker|scripts|app|prisma)\//).filter((name) => !OF_THE_TESTS.includes(name))
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  expect([...new Set(read)].filter((name) => !readme.includes(`\`${name}\``))).toEqual([])
})
