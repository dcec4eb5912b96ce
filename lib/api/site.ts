import { refuseWrongVariables } from '#lib/model/environment'

/** How an instance is reached from outside. */
export interface Site {
  /** Where people reach it, as an origin: scheme, host and port; null when it is only known by what they ask for. */
  publicUrl: string | null
  /** How many proxies stand before it that each add whom they heard to X-Forwarded-For; 0: that header is nobody's word. */
  proxies: number
}

/** Reads how; throws BadEnvironment naming each variable that is wrong. Empty ones count as not set. */
export function readSite(env: NodeJS.ProcessEnv): Site {
  refuseWrongVariables(env, 'server')
  const { SWITCHBOARD_PUBLIC_URL: publicUrl, SWITCHBOARD_TRUST_PROXY: proxies } = env
  return { publicUrl: publicUrl ? new URL(publicUrl).origin : null, proxies: Number(proxies || 0) }
}

/** Whether people reach the instance by https alone, so that cookies must not travel otherwise. */
export const isSecure = ({ publicUrl }: Site): boolean => publicUrl?.startsWith('https:') ?? false
