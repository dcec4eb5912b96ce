import { execFile } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { authenticate } from '#lib/auth/authenticate'
import { readCommand } from '../../scripts/endpoint-arguments'
import { carryOut } from '../../scripts/endpoint-commands'
import { database } from '../support/database'

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
