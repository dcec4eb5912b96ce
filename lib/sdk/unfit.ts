import { type ErrorCode, Refusal } from '#lib/model/errors'

const UNFIT: ReadonlySet<ErrorCode> = new Set(['invalid_request', 'validation_failed', 'payload_too_large'])

/** Whether something is wrong with what was sent, rather than with the lease it was sent under. */
export const isUnfit = (error: unknown): boolean =>
  // A TypeError comes from what JSON cannot say: a circle, or a bigint.
  error instanceof TypeError || (error instanceof Refusal && UNFIT.has(error.code))
