const QUARTER_HOUR_SECONDS = 15 * 60

/** SQL for the wait after a worker reported its nth failure: 30 s doubling, at most 15 min; `n` is SQL for an integer from 1. */
export const failureBackoffSql = (n: string): string => backoffSql(30, n)

/** SQL for the wait after the nth lease expiration: 1 s doubling, at most 15 min; `n` is SQL for an integer from 1. */
export const expirationBackoffSql = (n: string): string => backoffSql(1, n)

// The exponent is capped before the power is taken, so that no count overflows.
const backoffSql = (firstSeconds: number, n: string): string =>
  `make_interval(secs => least(${firstSeconds} * power(2, least(${n} - 1, 20)), ${QUARTER_HOUR_SECONDS}))`
