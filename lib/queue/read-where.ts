import type { Db } from '#lib/db/connect'
import { Refusal, type Violation } from '#lib/model/errors'
import type { Caller } from '#lib/wire/caller'
import { seesQueue } from './why-not'

/** How long a list may search before it is given up, so that no search takes the database down. */
const MOST_SEARCH_MS = 3000

/** Conditions on rows, as SQL with its parameters; joined by AND. */
export class Where {
  readonly values: unknown[] = []
  private readonly conditions: string[] = []

  /** Adds a condition; `sql` gets a placeholder for each of its values. */
  and(sql: (...placeholders: string[]) => string, ...values: unknown[]): this {
    const placeholders = values.map((value) => `$${this.values.push(value)}`)
    this.conditions.push(sql(...placeholders))
    return this
  }

  /** Adds a condition that needs no value. */
  also(sql: string): this {
    this.conditions.push(sql)
    return this
  }

  /** Adds a condition when there is a value. */
  when<Value>(value: Value | undefined, sql: (placeholder: string) => string): this {
    return value === undefined ? this : this.and(sql, value)
  }

  /** The conditions as they stand after WHERE; `true` when there are none. */
  get sql(): string {
    return this.conditions.length > 0 ? this.conditions.join(' AND ') : 'true'
  }
}

/** Limits rows to one queue and to what the caller may see; `column` holds the queue. Refuses a queue outside the caller's with forbidden. */
export function inQueues(where: Where, column: string, queue: string | undefined, caller: Caller): Where {
  if (queue !== undefined && !seesQueue(caller, queue)) {
    throw new Refusal('forbidden', { detail: `Queue ${queue} is not among yours` })
  }
  if (queue !== undefined) return where.and((given) => `${column} = ${given}`, queue)
  return caller.queues ? where.and((given) => `${column} = ANY(${given}::text[])`, caller.queues) : where
}

/** A pattern for ILIKE that finds the text as it is, anywhere. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

// A list is planned anew, by the values it asks for: the pool's one plan for all would read a million rows where 20 match.
// An index read in order must not be priced as a disk that seeks, else the planner filters the whole table in id order.
const BEGIN_SEARCH = `SELECT set_config('statement_timeout', '${MOST_SEARCH_MS}', true),
  set_config('plan_cache_mode', 'force_custom_plan', true), set_config('random_page_cost', '1.1', true)`

/** Runs reads under a time limit; one that takes longer is refused with validation_failed, which names what to narrow. */
export async function searching<Result>(
  db: Db,
  culprits: string[],
  read: (db: Db) => Promise<Result>,
): Promise<Result> {
  try {
    return await db.transaction(async (tx) => {
      await tx.query({ name: 'begin_search', text: BEGIN_SEARCH })
      return read(tx)
    })
  } catch (error) {
    if ((error as { code?: string }).code !== '57014') throw error
    throw tooSlow(culprits)
  }
}

function tooSlow(culprits: string[]): Refusal {
  const limit = `${MOST_SEARCH_MS / 1000} s`
  const message = `took longer than ${limit}; narrow it by queue, state or time`
  const errors: Violation[] = culprits.map((name) => ({ pointer: `?${name}`, message }))
  return new Refusal('validation_failed', { detail: `The search was given up after ${limit}`, errors })
}
