import type { Db } from '#lib/db/connect'
import { failureBackoffSql } from '#lib/model/backoff'
import type { EndpointCaller } from '#lib/wire/caller'
import type { Todo } from '#lib/wire/todo'
import { HELD_BY, HELD_INPUT } from './held'
import { moveHeld } from './holder-call'
import type { Plan } from './plan'
import type { Usage } from './usage'
import type { Held } from './why-not'

const LAST = 't.failures + t.lease_expirations + 1 >= t.max_attempts'

const FAIL: Plan = {
  transition: 'fail',
  input: { ...HELD_INPUT, error: 'jsonb', retryable: 'boolean', retry_after_seconds: 'integer', usage: 'jsonb' },
  pick: { named: HELD_BY },
  dead: `(NOT i.retryable OR ${LAST})`,
  set: {
    failures: 't.failures + 1',
    available_at: `now() + coalesce(make_interval(secs => p.in_retry_after_seconds), ${failureBackoffSql('(t.failures + 1)')})`,
    error: 'p.in_error',
  },
  error: `CASE WHEN p.in_retryable THEN jsonb_build_object(
    'code', 'max_attempts_exceeded',
    'message', format('Failed after %s of %s attempts: %s', t.failures + t.lease_expirations + 1, t.max_attempts, p.in_error ->> 'message'),
    'data', jsonb_build_object('error', p.in_error)) ELSE p.in_error END`,
  attemptError: 'm.in_error',
  data: `jsonb_build_object('error', m.in_error, 'retry_seconds',
    CASE WHEN NOT m.dead THEN round(extract(epoch FROM m.available_at - now())) END)`,
}

/** What a worker says of its failure. */
export interface Failure {
  error: { code: string; message: string; data?: unknown }
  /** True unless said: tried again while the allowance lasts. */
  retryable?: boolean | undefined
  /** Instead of the backoff of 30 s doubling. */
  retryAfterSeconds?: number | undefined
  usage?: Usage | undefined
}

/** Ends the attempt as failed: back to pending after a backoff, or to the dead letters, as when its budget is used up. Refuses as complete does. */
export function fail(db: Db, held: Held, caller: EndpointCaller, failure: Failure): Promise<Todo> {
  const { error, retryable = true, retryAfterSeconds, usage } = failure
  const input = { error, retryable, retry_after_seconds: retryAfterSeconds }
  return moveHeld(db, FAIL, caller, { held, input, outcome: 'failed', usage })
}
