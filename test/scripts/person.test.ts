import { execFile } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { readCommand } from '../../scripts/person-arguments'
import { database } from '../support/database'
import { PASSWORD, signIn } from '../support/people'
import { site } from '../support/site'

const { db, url, sql } = database()
const here = site(url)

interface Said {
  code: number
  stdout: string
  stderr: string
}

const run = (args: string[], stdin = ''): Promise<Said> =>
  new Promise((resolve) => {
    const env = {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: url,
      SWITCHBOARD_PUBLIC_URL: 'https://board.example',
      NODE_ENV: 'test' as const,
    }
    const options = { env }
    const child = execFile(
      process.execPath,
      ['--import', 'tsx', 'scripts/person.ts', ...args],
      options,
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
    child.stdin?.end(stdin)
  })

describe('npm run person', () => {
  test('makes somebody who may sign in with the password it prints, this once, and lists them', async () => {
    const made = await run(['create', 'Ada@Example.test', '--name', 'Ada', '--role', 'admin'])
    expect(made).toMatchObject({ code: 0, stderr: '' })
    expect(made.stdout).toContain('Ada may sign in at https://board.example/sign-in.\n')
    const password = /^Password {2}(\S{20})$/m.exec(made.stdout)?.[1] ?? ''
    expect((await signIn(here.url, 'ada@example.test', password)).body.person).toMatchObject({
      name: 'Ada',
      role: 'admin',
    })
    const [stored] = await sql<{ row: string }>`SELECT a::text AS row FROM accounts a`
    expect(stored?.row).not.toContain(password)

    const listed = await run(['list'])
    expect(listed.stdout).toMatch(/^ada@example\.test\s+Ada\s+admin\s+\d{4}-\d\d-\d\d\s+\d{4}-/m)
    expect(await run(['create', 'ADA@example.test', '--name', 'Another'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'somebody has this address already\n',
    })
  })

  test('takes a password from standard input and prints none; a viewer unless said', async () => {
    const made = await run(['create', 'eve@example.test', '--name', 'Eve', '--password-stdin'], `${PASSWORD}\n`)
    expect(made).toMatchObject({ code: 0, stdout: expect.not.stringMatching(/password/i) })
    await db.query({ text: 'DELETE FROM rate_limits' })
    expect((await signIn(here.url, 'eve@example.test', PASSWORD)).body.person.role).toBe('viewer')
    const short = await run(['create', 'bob@example.test', '--name', 'Bob', '--password-stdin'], 'short\n')
    expect(short).toMatchObject({ code: 2, stderr: expect.stringContaining('at least 12 characters') })
    expect(await sql`SELECT 1 FROM people WHERE email = 'bob@example.test'`).toEqual([])
  })
})

describe('its arguments', () => {
  const read = (args: string[], env: Record<string, string> = {}) => readCommand(args, { NODE_ENV: 'test', ...env })
  const ADA = ['create', 'ada@example.test', '--name', 'Ada']

  test('are read', () => {
    const wanted = { email: 'ada@example.test', name: 'Ada', role: 'viewer', takesPassword: false }
    expect(read(ADA)).toEqual({ verb: 'create', wanted })
    expect(read([...ADA, '--role', 'operator', '--password-stdin'])).toEqual({
      verb: 'create',
      wanted: { ...wanted, role: 'operator', takesPassword: true },
    })
    expect(read(['list'])).toEqual({ verb: 'list' })
    expect(read(['create', '--help'])).toBeNull()
  })

  const BAD: [string[], RegExp][] = [
    [[], /a command is missing/],
    [['remove', 'ada@example.test'], /unknown command: remove/],
    [['create'], /needs an e-mail address/],
    [['create', 'ada@example.test'], /needs --name/],
    [['create', 'ada', '--name', 'Ada'], /EMAIL: must be an e-mail address/],
    [['create', 'ada@example.test', '--name', ' '], /--name: is required/],
    [[...ADA, '--role', 'root'], /--role: must be one of viewer, responder, operator, admin/],
    [[...ADA, '--password', 'secret'], /Unknown option '--password'/],
    [[...ADA, 'another'], /unexpected argument: another/],
    [['list', '--role', 'admin'], /--role belongs to create/],
    [['list', 'ada@example.test'], /list takes no address/],
  ]

  test.each(BAD)('%j are refused', (args, why) => {
    expect(() => read(args)).toThrow(why)
  })

  test('that npm kept for itself are refused, so that nobody gets another role than was asked for', () => {
    expect(() => read(ADA, { npm_config_role: 'admin' })).toThrow('write two dashes first')
  })
})
