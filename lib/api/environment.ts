import { z } from 'zod'
import { SHORTEST_SECRET } from '#lib/auth/secret'
import { LOG_LEVELS } from '#lib/ops/log'
import { type Site, siteVariables } from './site'

/** What the web process is told by its environment. */
export interface Environment {
  host: string
  port: number
  databaseUrl: string
  metricsToken: string | null
  site: Site
  /** Pages are built when asked for. */
  dev: boolean
}

/** A variable that is missing or makes no sense, said so that it can be put right. */
export class BadEnvironment extends Error {
  override readonly name = 'BadEnvironment'
}

const variables = z.object({
  SWITCHBOARD_HOST: z
    .string()
    .regex(/^[A-Za-z0-9._:%-]+$/, 'must be a host name or an IP address')
    .default('127.0.0.1'),
  SWITCHBOARD_PORT: z
    .string()
    .regex(/^[0-9]{1,5}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(0).max(65_535))
    .default(4300),
  DATABASE_URL: z
    .string('is missing: it names the PostgreSQL to use, postgresql://user:password@host:port/database')
    .refine(isPostgres, 'must look like postgresql://user:password@host:port/database'),
  SWITCHBOARD_METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  SWITCHBOARD_SECRET: z.string().min(SHORTEST_SECRET, `must have at least ${SHORTEST_SECRET} characters`).optional(),
  SWITCHBOARD_LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).optional(),
  NODE_ENV: z.string().optional(),
  ...siteVariables,
})

/** Reads the environment; throws BadEnvironment naming each variable that is wrong. Empty ones count as not set. */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = variables.safeParse(set)
  if (!parsed.success) {
    throw new BadEnvironment(parsed.error.issues.map(({ path, message }) => `${String(path[0])} ${message}`).join('\n'))
  }
  const { SWITCHBOARD_HOST, SWITCHBOARD_PORT, DATABASE_URL, SWITCHBOARD_METRICS_TOKEN, NODE_ENV } = parsed.data
  const { SWITCHBOARD_PUBLIC_URL, SWITCHBOARD_TRUST_PROXY } = parsed.data
  return {
    host: SWITCHBOARD_HOST,
    port: SWITCHBOARD_PORT,
    databaseUrl: DATABASE_URL,
    metricsToken: SWITCHBOARD_METRICS_TOKEN ?? null,
    site: { publicUrl: SWITCHBOARD_PUBLIC_URL ?? null, proxies: SWITCHBOARD_TRUST_PROXY },
    dev: NODE_ENV !== 'production',
  }
}

function isPostgres(text: string): boolean {
  try {
    return ['postgres:', 'postgresql:'].includes(new URL(text).protocol)
  } catch {
    return false
  }
}
