const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

// Shutdown, crash recovery, starting up, too many connections, a standby that takes no writes; class 08 is the
// connection's. Prisma has codes of its own: P1xxx, and P2024 for a pool without a free connection.
const SERVER = /^(57P0[1-5]|53[0-9A-Z]{3}|08[0-9A-Z]{3}|25006|P1[0-9]{3}|P2024)$/

// The pool and the driver say these without a code.
const DRIVER =
  /timeout exceeded when trying to connect|connection terminated|connection error and is not queryable|pool after calling end/i

/** Whether an error means that the database is away, however the driver or the server puts it. */
export function isLostDatabase(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isLostDatabase)
  if (!(error instanceof Error)) return false
  const { code, cause } = error as Error & { code?: unknown }
  if (typeof code === 'string' && (NETWORK.has(code) || SERVER.test(code))) return true
  return DRIVER.test(error.message) || isLostDatabase(cause)
}

/** Whether the database gave up on a statement that can simply be sent again: a deadlock, a lock or a time limit. */
export const isSetBack = (error: unknown): boolean =>
  error instanceof Error && ['40001', '40P01', '55P03', '57014'].includes((error as { code?: string }).code ?? '')
