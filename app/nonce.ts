import { headers } from 'next/headers'

/** The nonce under which this request's content security policy lets scripts and styles run; empty without a policy. */
export async function nonce(): Promise<string> {
  const policy = (await headers()).get('content-security-policy') ?? ''
  return /'nonce-([^']+)'/.exec(policy)?.[1] ?? ''
}
