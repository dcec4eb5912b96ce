import { Client } from 'pg'
import { findDatabaseUrl } from '#scripts/instance.mjs'
import { type Command, parse, USAGE } from './arguments'
import { Refused, type Row } from './refused'
import { down, status, up } from './runner'

const NO_ADDRESS = 'DATABASE_URL is no address of a database. It looks like postgresql://user:password@host:5432/name.'

async function main(argv: string[]): Promise<number> {
  let command: Command
  try {
    command = parse(argv, process.env)
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n\n${USAGE}`)
    return 2
  }
  if (command.verb === 'help') {
    process.stdout.write(USAGE)
    return 0
  }
  try {
    return await connected((client) => run(client, command))
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`)
    return error instanceof Refused ? 3 : 1
  }
}

async function run(client: Client, command: Exclude<Command, { verb: 'help' }>): Promise<number> {
  if (command.verb === 'status') return showStatus(await status(client))
  const changed = command.verb === 'up' ? await up(client, { say }) : await down(client, command.keep, { say })
  if (changed.length === 0) say(command.verb === 'up' ? 'the database is up to date' : 'nothing to take back')
  return 0
}

function showStatus(rows: Row[]): number {
  const width = Math.max(9, ...rows.map(({ name }) => name.length))
  say(`${'migration'.padEnd(width)}  standing    applied at`)
  for (const { name, standing, finishedAt } of rows) {
    say(`${name.padEnd(width)}  ${standing.padEnd(10)}  ${finishedAt?.toISOString() ?? '-'}`)
  }
  return rows.every(({ standing }) => standing === 'applied' || standing === 'pending') ? 0 : 3
}

async function connected<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const url = process.env.DATABASE_URL || (await findDatabaseUrl())
  if (!url) throw new Error('No database: set DATABASE_URL, or run npm start first.')
  if (!/^(postgres(ql)?:|socket:|\/)/.test(url)) throw new Error(NO_ADDRESS)
  const client = new Client({
    connectionString: url,
    application_name: 'switchboard-migrate',
    connectionTimeoutMillis: 10_000,
  })
  // A connection that breaks also fails the statement under way, which is where it is reported.
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    throw new Error(`The database at ${client.host}:${client.port} cannot be reached: ${messageOf(error)}`)
  }
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

// A refused connection to a name with several addresses is an AggregateError, whose own message is empty.
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

process.exitCode = await main(process.argv.slice(2))
