import { betterAuth } from 'better-auth'
import { prismaAdapter } from 'better-auth/adapters/prisma'
import type { Database } from '#lib/db/connect'
import { prisma } from '#lib/db/prisma'

const DAY_SECONDS = 86_400

/** What sign-in needs to know of its instance. */
export interface SignInOptions {
  /** Signs session cookies; the same in every web process of an instance. */
  secret: string
  /** Where people reach the instance, when a proxy stands before it. */
  publicUrl?: string | undefined
}

/** better-auth on our pool and our tables: e-mail and password, sessions in the database, sign-up closed. */
export function signIn(database: Database, { secret, publicUrl }: SignInOptions) {
  const times = { createdAt: 'created_at', updatedAt: 'updated_at' }
  return betterAuth({
    appName: 'Switchboard',
    secret,
    basePath: '/api/auth',
    ...(publicUrl ? { baseURL: publicUrl } : {}),
    database: prismaAdapter(prisma(database), { provider: 'postgresql' }),
    emailAndPassword: { enabled: true, disableSignUp: true, minPasswordLength: 12, maxPasswordLength: 200 },
    user: {
      modelName: 'people',
      fields: { emailVerified: 'email_verified', ...times },
      additionalFields: { role: { type: 'string', input: false, required: true, defaultValue: 'viewer' } },
    },
    session: {
      modelName: 'sessions',
      fields: { userId: 'person_id', expiresAt: 'expires_at', ipAddress: 'ip_address', userAgent: 'user_agent', ...times },
      expiresIn: 14 * DAY_SECONDS,
      updateAge: DAY_SECONDS,
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
        ...times,
      },
    },
    verification: { modelName: 'verifications', fields: { expiresAt: 'expires_at', ...times } },
    rateLimit: {
      enabled: true,
      storage: 'database',
      modelName: 'rate_limits',
      fields: { lastRequest: 'last_request' },
      customRules: { '/sign-in/email': { window: 60, max: 10 } },
    },
    advanced: {
      cookiePrefix: 'switchboard',
      useSecureCookies: publicUrl?.startsWith('https:') ?? false,
      defaultCookieAttributes: { sameSite: 'lax', httpOnly: true },
    },
    telemetry: { enabled: false },
  })
}
