import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { giveTo, isReachable, sharedFolder } from './postgres-place.mjs'
import { Problem } from './problem.mjs'
import { identify } from './processes.mjs'

/** @typedef {import('./postgres-place.mjs').Account} Account */
/** @typedef {import('./postgres-place.mjs').Binaries} Binaries */

/** The name of the role and of the database we use. */
export const NAME = 'switchboard'

/** What PostgreSQL's programs see of our environment: no PG* variable and no secret of ours may reach them. */
export const environment = () => ({ PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' })

/** Makes complete database files in a draft folder that the caller renames them from: under `dataDir`, or where the
 * account can reach them.
 * @param {{ dataDir: string, account: Account, binaries: Binaries, password: string, durable: boolean }} options */
export function createFiles({ dataDir, account, binaries, password, durable }) {
  const draft = draftFolder(dataDir, account)
  const folder = join(draft, 'data')
  try {
    initialise({ folder, draft, account, binaries, password, durable })
    runSql({ folder, account, binaries, sql: `CREATE DATABASE ${NAME}` })
    return { draft, folder }
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
}

/** Gives the role of files that no server has open another password.
 * @param {{ folder: string, account: Account, binaries: Binaries, password: string }} options */
export function alterPassword({ folder, account, binaries, password }) {
  runSql({ folder, account, binaries, sql: `ALTER ROLE ${NAME} PASSWORD '${password}'` })
}

/** Removes drafts of a start that was killed midway; each carries the pid of who made it.
 * @param {string} parent */
export function removeUnfinished(parent) {
  for (const name of readdirSync(parent)) {
    const pid = /^new-(\d+)-/.exec(name)?.[1]
    if (pid && !identify(Number(pid))) rmSync(join(parent, name), { recursive: true, force: true })
  }
}

function draftFolder(/** @type {string} */ dataDir, /** @type {Account} */ account) {
  const here = draftIn(dataDir, account)
  if (isReachable(here, account)) return here
  rmSync(here, { recursive: true })
  const elsewhere = sharedFolder(account)
  removeUnfinished(elsewhere)
  return draftIn(elsewhere, account)
}

function draftIn(/** @type {string} */ parent, /** @type {Account} */ account) {
  const draft = mkdtempSync(join(parent, `new-${process.pid}-`))
  giveTo(draft, account)
  return draft
}

/** @param {{ folder: string, draft: string, account: Account, binaries: Binaries, password: string, durable: boolean }} options */
function initialise({ folder, draft, account, binaries, password, durable }) {
  const secret = join(draft, 'password')
  writeFileSync(secret, `${password}\n`, { mode: 0o600 })
  giveTo(secret, account)
  run(binaries.initdb, account, [
    `--pgdata=${folder}`,
    `--username=${NAME}`,
    `--pwfile=${secret}`,
    '--auth=scram-sha-256',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--encoding=UTF8',
    ...(durable ? [] : ['--no-sync']),
  ])
  chmodSync(folder, 0o700)
}

/** @param {{ folder: string, account: Account, binaries: Binaries, sql: string }} options */
function runSql({ folder, account, binaries, sql }) {
  run(binaries.postgres, account, ['--single', '-D', folder, '-c', 'exit_on_error=on', 'postgres'], `${sql};\n`)
}

function run(
  /** @type {string} */ program,
  /** @type {Account} */ account,
  /** @type {string[]} */ flags,
  /** @type {string} */ input = '',
) {
  const done = spawnSync(program, flags, { ...account, cwd: '/', env: environment(), encoding: 'utf8', input })
  if (done.status === 0) return
  const said = done.error?.message ?? (done.stderr || done.stdout).trim().split('\n').slice(-8).join('\n')
  throw new Problem(`Could not create the database files:\n${said}`)
}
