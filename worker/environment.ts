import { z } from 'zod'
import { LOG_LEVELS } from '#lib/ops/log'

/** What the worker is told by its environment. */
export interface Environment {
  databaseUrl: string
  host: string
  port: number
  /** What a reader of the metrics must bring; null: none, but it must be on this machine. */
  metricsToken: string | null
}

const isPostgresUrl = (text: string): boolean => {
  try {
    return /^postgres(ql)?:$/.test(new URL(text).protocol)
  } catch {
    return false
  }
}

const schema = z.object({
  DATABASE_URL: z
    .string('is missing: it names the database, as postgresql://user:password@host:5432/name')
    .refine(isPostgresUrl, 'must be of the form postgresql://user:password@host:5432/name'),
  SWITCHBOARD_HOST: z.string().min(1, 'must be a host name or address, or left out').default('127.0.0.1'),
  SWITCHBOARD_PORT: z
    .string()
    .regex(/^[0-9]{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((port) => port >= 1 && port <= 65_535, 'must be between 1 and 65535')
    .default(4301),
  SWITCHBOARD_METRICS_TOKEN: z.string().optional(),
  SWITCHBOARD_LOG_LEVEL: z.enum(['', ...LOG_LEVELS], `must be one of ${LOG_LEVELS.join(', ')}`).optional(),
})

/** Reads the worker's environment; throws one error that names every variable that is wrong, and what it should be. */
export function readEnvironment(variables: Record<string, string | undefined>): Environment {
  const parsed = schema.safeParse(variables)
  if (!parsed.success) {
    throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('\n'))
  }
  const { DATABASE_URL, SWITCHBOARD_HOST, SWITCHBOARD_PORT, SWITCHBOARD_METRICS_TOKEN } = parsed.data
  return {
    databaseUrl: DATABASE_URL,
    host: SWITCHBOARD_HOST,
    port: SWITCHBOARD_PORT,
    metricsToken: SWITCHBOARD_METRICS_TOKEN || null,
  }
}
