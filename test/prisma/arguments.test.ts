import { expect, test } from 'vitest'
import { parse } from '../../prisma/arguments'
import { readMigrations } from '../../prisma/folder'

const [name = ''] = readMigrations().map((migration) => migration.name)

test.each([
  [['up'], { verb: 'up' }],
  [['status'], { verb: 'status' }],
  [['--help'], { verb: 'help' }],
  [['down', '--to', 'none'], { verb: 'down', keep: null }],
  [['down', '--to', name], { verb: 'down', keep: name }],
  [['down', `--to=${name.slice(name.indexOf('_') + 1)}`], { verb: 'down', keep: name }],
])('%j is understood', (argv, command) => {
  expect(parse(argv, {})).toEqual(command)
})

test.each([
  [[], 'a command is missing'],
  [['sideways'], 'unknown command: sideways'],
  [['up', 'again'], 'unexpected argument: again'],
  [['up', '--to', 'init'], '--to belongs to down'],
  [['down'], 'down needs --to NAME, or --to none'],
  [['down', '--to', 'nowhere'], 'there is no migration nowhere; there are: '],
  [['status', '--loud'], "Unknown option '--loud'"],
])('%j is refused, saying why', (argv, message) => {
  expect(() => parse(argv, {})).toThrow(message)
})

test('a --to that npm kept for itself is refused rather than missed', () => {
  expect(() => parse(['down', name], { npm_config_to: 'true' })).toThrow('unexpected argument')
  expect(() => parse(['down'], { npm_config_to: name })).toThrow('write two dashes before it')
})
