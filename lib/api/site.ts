import { z } from 'zod'

/** How an instance is reached from outside. */
export interface Site {
  /** Where people reach it, as an origin: scheme, host and port; null when it is only known by what they ask for. */
  publicUrl: string | null
  /** How many proxies stand before it that each add whom they heard to X-Forwarded-For; 0: that header is nobody's word. */
  proxies: number
}

/** The variables that say so. */
export const siteVariables = {
  SWITCHBOARD_PUBLIC_URL: z
    .string()
    .refine(isOrigin, 'must look like https://switchboard.example, without a path')
    .transform((text) => new URL(text).origin)
    .optional(),
  SWITCHBOARD_TRUST_PROXY: z
    .string()
    .regex(/^[0-9]$/, 'must be the number of proxies before the web process, 0 to 9')
    .transform(Number)
    .default(0),
}

/** Reads them; throws naming what is wrong. Empty ones count as not set. */
export function readSite(env: NodeJS.ProcessEnv): Site {
  const { SWITCHBOARD_PUBLIC_URL: publicUrl, SWITCHBOARD_TRUST_PROXY: proxies } = env
  const set = { SWITCHBOARD_PUBLIC_URL: publicUrl || undefined, SWITCHBOARD_TRUST_PROXY: proxies || undefined }
  const read = z.object(siteVariables).parse(set)
  return { publicUrl: read.SWITCHBOARD_PUBLIC_URL ?? null, proxies: read.SWITCHBOARD_TRUST_PROXY }
}

/** Whether people reach the instance by https alone, so that cookies must not travel otherwise. */
export const isSecure = ({ publicUrl }: Site): boolean => publicUrl?.startsWith('https:') ?? false

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, pathname, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '' && pathname === '/'
}
