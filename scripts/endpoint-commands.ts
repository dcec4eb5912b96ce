import { createEndpoint, type Endpoint, listEndpoints } from '#lib/auth/endpoints'
import { connect, type Database } from '#lib/db/connect'
import { refuseWrongVariables } from '#lib/model/environment'
import { Refusal } from '#lib/model/errors'
import { type Revoked, revokeEndpoint } from '#lib/queue/revoke'
import { BadArguments, type Command, readCommand, USAGE } from './endpoint-arguments'
import { findDatabaseUrl, readInstance } from './instance.mjs'

/** Carries out one command line and returns the exit code: 0, 1 for what didn't work, 2 for bad arguments. */
export async function runEndpoint(argv: string[]): Promise<number> {
  try {
    const command = readCommand(argv, process.env)
    if (command.verb !== 'help') refuseWrongVariables(process.env, 'programs')
    process.stdout.write(command.verb === 'help' ? USAGE : `${await connected((db) => carryOut(db, command))}\n`)
    return 0
  } catch (error) {
    const isMistake = error instanceof BadArguments
    process.stderr.write(`${messageOf(error)}\n${isMistake ? `\n${USAGE}` : ''}`)
    return isMistake ? 2 : 1
  }
}

async function connected(work: (db: Database) => Promise<string>): Promise<string> {
  const databaseUrl = findDatabaseUrl()
  if (!databaseUrl) throw new Error('No database: set DATABASE_URL, or run npm start first.')
  const db = connect({ databaseUrl, max: 1, applicationName: 'switchboard-endpoint' })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

/** Does what a command says and returns what there is to tell; refuses as the functions of lib/auth do. */
export async function carryOut(db: Database, command: Exclude<Command, { verb: 'help' }>): Promise<string> {
  if (command.verb === 'list') return listing(await listEndpoints(db))
  if (command.verb === 'revoke') return revoked(await revokeEndpoint(db, command.name))
  const { endpoint, token } = await createEndpoint(db, command.wanted)
  return made(endpoint, token)
}

function revoked({ name, failed, requeued, parked }: Revoked): string {
  const became = [
    failed > 0 && `${todos(failed)} assigned to it failed`,
    requeued > 0 && `${todos(requeued)} it had claimed went back to the queue`,
    parked > 0 && `${parked === 1 ? '1 question' : `${parked} questions`} it held can still be answered`,
  ].filter(Boolean)
  return [`${name} is revoked: its token works no more.`, ...became.map((line) => `${line}.`)].join('\n')
}

const todos = (count: number): string => (count === 1 ? '1 todo' : `${count} todos`)

function made(endpoint: Endpoint, token: string): string {
  const url = process.env.SWITCHBOARD_URL ?? readInstance()?.url
  const until = endpoint.expires_at ? ` until ${endpoint.expires_at}` : ''
  return [
    `${endpoint.name} may ${endpoint.scopes.join(', ')} in ${endpoint.queues?.join(', ') ?? 'all queues'}${until}. Paste this where it runs:`,
    '',
    ...(url ? [`export SWITCHBOARD_URL=${url}`] : []),
    `export SWITCHBOARD_TOKEN=${token}`,
    '',
    'The token is shown only now; Switchboard keeps its hash.',
  ].join('\n')
}

const COLUMNS = ['name', 'standing', 'scopes', 'queues', 'lease', 'last seen', 'expires']

function listing(endpoints: Endpoint[]): string {
  if (endpoints.length === 0)
    return 'There are no endpoints yet. Make one: npm run endpoint -- create NAME --scopes work'
  const rows = [COLUMNS, ...endpoints.map(rowOf)]
  const widths = COLUMNS.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

const rowOf = (endpoint: Endpoint): string[] => [
  endpoint.name,
  standingOf(endpoint),
  endpoint.scopes.join(','),
  endpoint.queues?.join(',') ?? 'all',
  endpoint.default_lease_seconds === null ? '-' : `${endpoint.default_lease_seconds} s`,
  endpoint.last_seen_at ?? 'never',
  endpoint.expires_at ?? 'never',
]

// One that expired is revoked for that a moment later.
function standingOf({ revoked_at, expires_at }: Endpoint): string {
  if (expires_at && expires_at <= (revoked_at ?? new Date().toISOString())) return 'expired'
  return revoked_at ? 'revoked' : 'in force'
}

// A refused connection to a name with several addresses is an AggregateError, whose own message is empty.
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  if (error instanceof Refusal)
    return [error.message, ...(error.facts.errors ?? []).map(({ message }) => message)].join(': ')
  const { code, message } = error as { code?: string; message?: string }
  if (code === '42P01') return 'The database has no tables yet: run npm start, or npm run migrate -- up.'
  if (code === 'ECONNREFUSED') return `The database cannot be reached: ${message}`
  return message ?? String(error)
}
