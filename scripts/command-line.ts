import { connect, type Database } from '#lib/db/connect'
import { refuseWrongVariables } from '#lib/model/environment'
import { Refusal } from '#lib/model/errors'
import { findDatabaseUrl } from './instance.mjs'

/** Arguments that make no sense, and why. */
export class BadArguments extends Error {
  override readonly name = 'BadArguments'
}

/** A program for the database that DATABASE_URL names, else the one that `npm start` runs. */
export interface Program<Command> {
  name: string
  usage: string
  /** Reads the arguments, null when only the usage is wanted; throws BadArguments. */
  read(argv: string[], env: NodeJS.ProcessEnv): Command | null
  /** Carries the command out and returns what there is to say, with an exit code of its own where that is not 0. */
  run(db: Database, command: Command): Promise<string | Outcome>
}

/** What a program says, and how it ends. */
export interface Outcome {
  said: string
  exitCode: number
}

/** Runs a program with these arguments and returns the exit code: the program's own, 1 for what didn't work, 2 for bad arguments. */
export async function runProgram<Command>(program: Program<Command>, argv: string[]): Promise<number> {
  try {
    const command = program.read(argv, process.env)
    const outcome = command === null ? program.usage : await connected(program, (db) => program.run(db, command))
    const { said, exitCode } = typeof outcome === 'string' ? { said: outcome, exitCode: 0 } : outcome
    process.stdout.write(said.endsWith('\n') ? said : `${said}\n`)
    return exitCode
  } catch (error) {
    const isMistake = error instanceof BadArguments
    process.stderr.write(`${messageOf(error)}\n${isMistake ? `\n${program.usage}` : ''}`)
    return isMistake ? 2 : 1
  }
}

/** Rows under their headings, as columns of text. */
export function columns(headings: string[], rows: string[][]): string {
  const all = [headings, ...rows]
  const widths = headings.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)))
  const line = (row: string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')
  return all.map((row) => line(row).trimEnd()).join('\n')
}

async function connected<Result>({ name }: { name: string }, work: (db: Database) => Promise<Result>): Promise<Result> {
  refuseWrongVariables(process.env, 'programs')
  const databaseUrl = findDatabaseUrl()
  if (!databaseUrl) throw new Error('No database: set DATABASE_URL, or run npm start first.')
  const db = connect({ databaseUrl, max: 1, applicationName: `switchboard-${name}` })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

// A refused connection to a name with several addresses is an AggregateError, whose own message is empty.
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  if (error instanceof Refusal) return (error.facts.errors ?? [error]).map(({ message }) => message).join('; ')
  const { code, message } = error as { code?: string; message?: string }
  if (code === '42P01') return 'The database has no tables yet: run npm start, or npm run migrate -- up.'
  if (code === 'ECONNREFUSED') return `The database cannot be reached: ${message}`
  return message ?? String(error)
}
