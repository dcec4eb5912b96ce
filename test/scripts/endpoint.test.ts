import { execFile } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { authenticate } from '#lib/auth/authenticate'
import { readCommand } from '../../scripts/endpoint-arguments'
import { carryOut } from '../../scripts/endpoint-commands'
import { registered } from '../support/callers'
import { database } from '../support/database'
import { given } from '../support/given'

const { db, url } = database()

interface Said {
  code: number
  stdout: string
  stderr: string
}

const run = (...args: string[]): Promise<Said> =>
  new Promise((resolve) => {
    const env = {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: url,
      SWITCHBOARD_URL: 'http://127.0.0.1:4999',
      NODE_ENV: 'test' as const,
    }
    execFile(process.execPath, ['--import', 'tsx', 'scripts/endpoint.ts', ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })

describe('npm run endpoint', () => {
  test('makes an endpoint, prints its token ready to paste and this once, lists and revokes it', async () => {
    const made = await run('create', 'mill', '--scopes', 'work,read', '--queues', 'a, b', '--lease-seconds', '60')
    expect(made).toMatchObject({ code: 0, stderr: '' })
    expect(made.stdout).toContain('\nexport SWITCHBOARD_URL=http://127.0.0.1:4999\n')
    const token = /^export SWITCHBOARD_TOKEN=(\S+)$/m.exec(made.stdout)?.[1] ?? ''
    const caller = await authenticate(db, token)
    expect(caller).toMatchObject({
      name: 'mill',
      scopes: ['work', 'read'],
      queues: ['a', 'b'],
      defaultLeaseSeconds: 60,
    })

    const listed = await carryOut(db, { verb: 'list' })
    expect(listed).toMatch(/^mill\s+in force\s+work,read\s+a,b\s+60 s/m)
    expect(listed).not.toContain(token)

    const again = carryOut(db, { verb: 'create', wanted: { name: 'mill', scopes: ['work'] } })
    await expect(again).rejects.toMatchObject({ code: 'validation_failed' })
    expect(await carryOut(db, { verb: 'revoke', name: 'mill' })).toBe('mill is revoked: its token works no more.')
    await expect(authenticate(db, token)).rejects.toMatchObject({ code: 'unauthenticated' })
    expect(await carryOut(db, { verb: 'list' })).toMatch(/^mill\s+revoked/m)
    await expect(carryOut(db, { verb: 'revoke', name: 'nobody' })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('makes one that ends by itself, and lists when', async () => {
    const command = readCommand('create brief --scopes work --expires-in 30d'.split(' '), {} as NodeJS.ProcessEnv)
    expect(command).toMatchObject({ wanted: { expires_in_seconds: 30 * 86_400 } })
    const at = '2099-01-31T11:00:00.000Z'
    const dated = 'create dated --scopes work --expires-at 2099-01-31T12:00:00+01:00'
    const made = await carryOut(db, readCommand(dated.split(' '), {} as NodeJS.ProcessEnv) as never)
    expect(made).toContain(`in all queues until ${at}.`)
    expect(await carryOut(db, { verb: 'list' })).toMatch(new RegExp(`^dated .* ${at}$`, 'm'))
    await db.query({ text: `UPDATE endpoints SET expires_at = now() WHERE name = 'dated'` })
    expect(await carryOut(db, { verb: 'list' })).toMatch(/^dated\s+expired/m)
    await db.query({ text: `UPDATE endpoints SET revoked_at = now() WHERE name = 'dated'` })
    expect(await carryOut(db, { verb: 'list' })).toMatch(/^dated\s+expired/m)
  })

  test('says what became of the todos of one it revokes', async () => {
    const worker = await registered(db, 'busy')
    await given(db, 'pending', { todo: { assignee: 'busy' } })
    await given(db, 'claimed', { worker })
    await given(db, 'claimed', { worker })
    await given(db, 'input-required', { worker })
    expect(await carryOut(db, { verb: 'revoke', name: 'busy' })).toBe(
      [
        'busy is revoked: its token works no more.',
        '1 todo assigned to it failed.',
        '2 todos it had claimed went back to the queue.',
        '1 question it held can still be answered.',
      ].join('\n'),
    )
  })

  test('shows its usage and exits with 2 when it is misused', async () => {
    const { code, stderr } = await run('create', 'mill')
    expect({ code, usage: stderr.includes('Usage: npm run endpoint') }).toEqual({ code: 2, usage: true })
  })
})

describe('its arguments', () => {
  const read = (line: string, env = {}) => readCommand(line.split(' ').filter(Boolean), env as NodeJS.ProcessEnv)

  test.each([
    ['', 'a command is missing'],
    ['make x', 'unknown command: make'],
    ['create', 'create needs a name'],
    ['create x', 'create needs --scopes'],
    ['create x --scopes', /scopes.*argument missing/i],
    ['create x --scopes work,fly', '--scopes: fly is none of enqueue, work, read, answer, operate'],
    ['create x --scopes ,', '--scopes: at least one scope'],
    ['create X --scopes work', /^NAME: must be 1 to 64/],
    ['create x --scopes work --queues A', /^--queues: must be 1 to 64/],
    ['create x --scopes work --lease-seconds 1e3', '--lease-seconds: must be a whole number from 1 to 86400'],
    ['create x --scopes work --lease-seconds 0', '--lease-seconds: must be a whole number from 1 to 86400'],
    ['create x --scopes work --expires-in 30', '--expires-in: must be a whole number and s, m, h or d, as 30d'],
    ['create x --scopes work --expires-in 0d', '--expires-in: must be at least 1'],
    ['create x --scopes work --expires-in 9999d', '--expires-in: at most ten years'],
    ['create x --scopes work --expires-at tomorrow', /^--expires-at: /],
    [
      'create x --scopes work --expires-in 1d --expires-at 2027-01-01T00:00:00Z',
      '--expires-in or --expires-at, not both',
    ],
    ['create x --scope work', /Unknown option '--scope'/],
    ['create x y --scopes work', 'unexpected argument: y'],
    ['list x', 'list takes no name'],
    ['list --scopes work', '--scopes belongs to create'],
    ['revoke', 'revoke needs the name of an endpoint'],
  ])('%s is refused with the reason', (line, reason) => {
    expect(() => read(line)).toThrow(reason)
  })

  test('that npm kept for itself are noticed', () => {
    expect(() => read('create x work', { npm_config_scopes: 'true' })).toThrow(/write two dashes/)
    expect(() => read('create x work', { npm_config_lease_seconds: '5' })).toThrow(/npm kept --lease-seconds/)
  })
})
