import { execFile } from 'node:child_process'
import { afterEach, describe, expect, test } from 'vitest'
import type { Outcome } from '../../scripts/command-line'
import { PREFLIGHT } from '../../scripts/preflight-program'
import { database } from '../support/database'
import { given } from '../support/given'

const { db, sql, url } = database()

interface Said {
  code: number
  stdout: string
  stderr: string
}

/** What it says and how it ends, without a process of its own. */
const said = async (json: boolean) => (await PREFLIGHT.run(db, { json })) as Outcome

const run = (args: string[] = [], env: Record<string, string> = {}): Promise<Said> =>
  new Promise((resolve) => {
    const all = { PATH: process.env.PATH ?? '', DATABASE_URL: url, NODE_ENV: 'test' as const, ...env }
    const program = ['--import', 'tsx', 'scripts/preflight.ts', ...args]
    execFile(process.execPath, program, { env: all }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })

afterEach(() => sql`TRUNCATE todos, todo_attempts, todo_events, interrupts, effects`)

describe('npm run preflight', () => {
  test('finds nothing wrong with todos in every kind of state', async () => {
    for (const state of ['pending', 'claimed', 'input-required', 'completed', 'failed'] as const) await given(db, state)
    const { code, stdout } = await run(['--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, revision: { matches: true }, breaches: [] })
    expect((await said(false)).said).toMatch(
      /^Revision \S+: build and database match\.\nEvery todo keeps every rule\.$/,
    )
  })

  test('names a todo that breaks a rule, the rule and what was found, and ends with 3', async () => {
    const { id } = await given(db, 'claimed')
    await sql`UPDATE todo_attempts SET ended_at = now(), outcome = 'released', disposition = 'requeued' WHERE todo_id = ${id}`
    const { exitCode, said: stdout } = await said(true)
    expect(exitCode).toBe(3)
    const rule = 'one open attempt while somebody works or waits, none otherwise'
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      breaches: [{ rule, todo_id: id, found: 'claimed with 0 open' }],
    })
    const inWords = await said(false)
    expect(inWords).toMatchObject({ exitCode: 3 })
    expect(inWords.said).toContain(id)
    expect(inWords.said).toContain(rule)
  })

  test('judges no rows of another revision: it names both and ends with 3', async () => {
    await sql`INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
      VALUES ('later', 'none', '29991231000000_later', now(), now(), 1)`
    try {
      const { code, stdout } = await run(['--json'])
      expect(code).toBe(3)
      expect(JSON.parse(stdout)).toMatchObject({
        ok: false,
        revision: { database: '29991231000000_later', matches: false },
        breaches: null,
      })
      expect((await said(false)).said).toMatch(/^This build knows \S+, the database is at 29991231000000_later\./)
    } finally {
      await sql`DELETE FROM _prisma_migrations WHERE id = 'later'`
    }
  })

  test('says what it takes, and ends with 2 when it is misused and 1 where no database answers', async () => {
    expect(await run(['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('Exit code') })
    expect(await run(['--jsn'])).toMatchObject({ code: 2, stderr: expect.stringContaining('Usage: npm run preflight') })
    expect(await run([], { npm_config_json: 'true' })).toMatchObject({ code: 2 })
    const gone = await run([], { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' })
    expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be reached') })
  })
})
