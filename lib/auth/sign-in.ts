import type { Database } from '#lib/db/connect'
import { prisma } from '#lib/db/prisma'
import { log } from '#lib/ops/log'
import { COOKIE_PREFIX, RENEW_AFTER_SECONDS, SESSION_SECONDS, secretOf } from './session'

/** Under which better-auth answers. */
export const AUTH_PATH = '/api/auth'

/** The header in which our own server tells it the client's address; nobody else's copy ever gets here. */
export const ADDRESS_HEADER = 'x-switchboard-address'

// So many sign-ins are tried from one address in so many seconds.
const MOST_SIGN_INS = { window: 60, max: 10 }

/** Answers a request to better-auth, whose address is that of the person's browser. Throws what it could not answer. */
export type SignIn = (request: Request) => Promise<Response>

const KEY = Symbol.for('switchboard.sign-in')
const shared = globalThis as unknown as Record<symbol, WeakMap<Database, Promise<SignIn>> | undefined>

/** The process's one better-auth on this database, made when first asked for. `isSecure`: people reach us by https alone. */
export function signIn(database: Database, isSecure: boolean): Promise<SignIn> {
  const all = shared[KEY] ?? new WeakMap()
  shared[KEY] = all
  const known = all.get(database)
  if (known) return known
  const made = secretOf(database).then((secret) => make(database, secret, isSecure))
  all.set(database, made)
  made.catch(() => all.delete(database))
  return made
}

const TIMES = { createdAt: 'created_at', updatedAt: 'updated_at' }

/** better-auth on our pool and our tables: e-mail and password, sessions in the database, sign-up closed. */
async function make(database: Database, secret: string, isSecure: boolean): Promise<SignIn> {
  // Half a second of loading, which no start and no worker's call should wait for.
  const [{ betterAuth }, { prismaAdapter }] = await Promise.all([
    import('better-auth/minimal'),
    import('better-auth/adapters/prisma'),
  ])
  const { handler } = betterAuth({
    appName: 'Switchboard',
    secret,
    basePath: AUTH_PATH,
    database: prismaAdapter(prisma(database), { provider: 'postgresql' }),
    // Whoever calls has been checked against our own origin, and the request's address made from that.
    trustedOrigins: (request) => (request ? [new URL(request.url).origin] : []),
    emailAndPassword: { enabled: true, disableSignUp: true, minPasswordLength: 12, maxPasswordLength: 200 },
    user: {
      modelName: 'people',
      fields: { emailVerified: 'email_verified', ...TIMES },
      additionalFields: { role: { type: 'string', input: false, required: true, defaultValue: 'viewer' } },
    },
    session: {
      modelName: 'sessions',
      fields: {
        userId: 'person_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        ...TIMES,
      },
      expiresIn: SESSION_SECONDS,
      updateAge: RENEW_AFTER_SECONDS,
    },
    account: {
      modelName: 'accounts',
      fields: {
        userId: 'person_id',
        accountId: 'account_id',
        providerId: 'provider_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        idToken: 'id_token',
        ...TIMES,
      },
    },
    verification: { modelName: 'verifications', fields: { expiresAt: 'expires_at', ...TIMES } },
    rateLimit: {
      enabled: true,
      storage: 'database',
      modelName: 'rate_limits',
      fields: { lastRequest: 'last_request' },
      customRules: { '/sign-in/email': MOST_SIGN_INS, '/get-session': false, '/sign-out': false },
    },
    advanced: {
      cookiePrefix: COOKIE_PREFIX,
      useSecureCookies: isSecure,
      defaultCookieAttributes: { sameSite: 'lax', httpOnly: true },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
    },
    onAPIError: { throw: true },
    logger: { level: 'warn', log: note },
    telemetry: { enabled: false },
  })
  return handler
}

// Told by us with the address they came from; or known: each request brings its own base URL.
const SAID_ALREADY = /^(User not found|Password not found|Invalid password)$|Base URL is not set/
const NO_ADDRESS = /^Rate limiting could not determine a client IP/

function note(level: string, message: string, ...facts: unknown[]): void {
  if (SAID_ALREADY.test(message)) return
  if (NO_ADDRESS.test(message)) {
    log.warn('clients have no address here, so that all sign-ins share one limit: set SWITCHBOARD_TRUST_PROXY')
    return
  }
  const err = facts.find((fact) => fact instanceof Error)
  log[level === 'error' ? 'error' : 'warn']({ ...(err ? { err } : {}) }, `sign-in: ${message}`)
}
