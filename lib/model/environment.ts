import { LOG_LEVELS, SHORTEST_SECRET, wrongVariables } from './variables.mjs'

export { LOG_LEVELS, SHORTEST_SECRET }

/** The variables of a process, by name. */
export type Variables = Readonly<Record<string, string | undefined>>

/** A variable that is missing or makes no sense, said so that it can be put right. */
export class BadEnvironment extends Error {
  override readonly name = 'BadEnvironment'
}

/** Throws BadEnvironment, a line for each variable of the table that is wrong, when it concerns this reader. */
export function refuseWrongVariables(env: Variables, reader: 'server' | 'programs'): void {
  const wrong = wrongVariables(env, reader)
  if (wrong.length > 0) throw new BadEnvironment(wrong.join('\n'))
}

/** What web process and worker are both told by their environment. */
export interface ProcessEnvironment {
  databaseUrl: string
  host: string
  port: number
  /** What a reader of the metrics must bring; null: none, but it must be on this machine. */
  metricsToken: string | null
}

const NO_DATABASE = 'DATABASE_URL is missing: it must look like postgresql://user:password@host:5432/database'

/** Reads that; throws BadEnvironment naming each variable that is wrong. Empty ones count as not set. */
export function readProcessEnvironment(env: Variables, defaultPort: number): ProcessEnvironment {
  const { DATABASE_URL, SWITCHBOARD_HOST, SWITCHBOARD_PORT, SWITCHBOARD_METRICS_TOKEN } = env
  const wrong = wrongVariables(env, 'server')
  if (!DATABASE_URL || wrong.length > 0) {
    throw new BadEnvironment([...wrong, ...(DATABASE_URL ? [] : [NO_DATABASE])].join('\n'))
  }
  return {
    databaseUrl: DATABASE_URL,
    host: SWITCHBOARD_HOST || '127.0.0.1',
    port: Number(SWITCHBOARD_PORT || defaultPort),
    metricsToken: SWITCHBOARD_METRICS_TOKEN || null,
  }
}
