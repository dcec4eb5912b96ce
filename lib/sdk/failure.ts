import { Refusal } from '#lib/model/errors'
import type { FailureHints } from './fatal'
import type { Json } from './json'
import { plainText } from './plain-text'

/** A failure as it goes on the wire. */
export interface Failure {
  error: { code: string; message: string; data?: Json }
  retryable: boolean
  retry_after_seconds?: number
}

const MOST_CODE = 100
const MOST_MESSAGE = 10_000
const MOST_SECONDS = 30 * 24 * 60 * 60

/** What a thrown value says about the failure; whatever it is, the server can keep it. */
export function failureOf(thrown: unknown): Failure {
  const { code, data, retryable, retryAfterSeconds } = hintsOf(thrown)
  return {
    error: {
      code: plainText(typeof code === 'string' ? code : nameOf(thrown), MOST_CODE) || 'error',
      message: plainText(messageOf(thrown), MOST_MESSAGE),
      ...(data !== undefined && { data: data as Json }),
    },
    retryable: retryable !== false && !isForGood(thrown),
    ...(Number.isFinite(retryAfterSeconds) && { retry_after_seconds: wholeSeconds(retryAfterSeconds as number) }),
  }
}

// Trying again would bring the same approval.
const isForGood = (thrown: unknown): boolean => thrown instanceof Refusal && thrown.code === 'approval_mismatch'

/** What a thrown value says of itself. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

const hintsOf = (thrown: unknown): FailureHints => (thrown !== null && typeof thrown === 'object' ? thrown : {})

const nameOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.name : 'error')

const wholeSeconds = (seconds: number): number => Math.min(Math.max(0, Math.ceil(seconds)), MOST_SECONDS)
