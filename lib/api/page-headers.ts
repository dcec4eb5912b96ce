import { randomBytes } from 'node:crypto'

/** Headers of every page and of all that is not JSON. */
export const PAGE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
} as const

/** A nonce for one answer. */
export const makeNonce = (): string => randomBytes(16).toString('base64')

/**
 * The content security policy of a page whose own scripts and style sheets carry this nonce. Style attributes stay
 * allowed, since the components set sizes and colours by them. In development Next's tools need more.
 */
export function pagePolicy(nonce: string, { dev }: { dev: boolean }): string {
  return policy({
    'default-src': "'self'",
    'script-src': `'self' 'nonce-${nonce}'${dev ? " 'unsafe-eval'" : ''}`,
    'style-src': dev ? "'self' 'unsafe-inline'" : `'self' 'nonce-${nonce}'`,
    'style-src-attr': "'unsafe-inline'",
    'img-src': "'self' data:",
    'font-src': "'self'",
    'connect-src': dev ? "'self' ws: wss:" : "'self'",
    ...ALWAYS,
  })
}

/** The policy of a page without scripts, whose one style sheet carries this nonce. */
export const documentPolicy = (nonce: string): string =>
  policy({ 'default-src': "'none'", 'style-src': `'nonce-${nonce}'`, ...ALWAYS })

const ALWAYS = { 'object-src': "'none'", 'base-uri': "'none'", 'form-action': "'self'", 'frame-ancestors': "'none'" }

const policy = (directives: Record<string, string>): string =>
  Object.entries(directives)
    .map(([name, sources]) => `${name} ${sources}`)
    .join('; ')
