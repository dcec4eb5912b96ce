import type { TransitionName } from '#lib/model/transitions'

/** What a verb adds to its row of TRANSITIONS. Its SQL sees the locked row as `t`, what the caller gave as `p.in_…`. */
export interface Plan {
  transition: TransitionName
  /** Tells plans of one transition apart in the names of prepared statements. */
  variant?: string
  /** The caller's columns beside `id` and `actor`, with their SQL types. */
  input?: Record<string, string>
  /**
   * Which rows. `named`: those the caller names and this guard on `t` and `i` allows, waiting for their locks; `swept`:
   * a batch that meets this condition on `t`, skipping what is locked; `chosen`: SQL that locks rows and yields their ids.
   */
  pick: { named: string } | { swept: string; limit: number } | { chosen: string }
  /**
   * Also requires the version the statement's own snapshot saw: for callers that bring neither epoch nor interrupt, since
   * having waited for a lock a statement doesn't see an attempt or interrupt added meanwhile.
   */
  unfenced?: boolean
  /** SQL on `t` and `i`: true for a row that goes to the dead letters instead. */
  dead?: string
  /** Columns this verb sets, as SQL on `t` and `p`. */
  set?: Record<string, string>
  /** The error of a row that goes to `failed`, as SQL for jsonb on `t` and `p`. */
  error?: string
  /** The error of the attempt it closes, as SQL on `m`; a dead letter's attempt has the row's. */
  attemptError?: string
  /** What the event keeps, as SQL for jsonb on `m`, the row after, with its `in_…` and `was_…`. */
  data?: string
  /** The event's reason, as SQL on `m`; otherwise the transition's own. */
  reason?: string
  /** What the verb writes besides, each by the name it gives its part of the statement: SQL that reads `moved`. */
  also?: Record<string, string>
  /** Whether the moved come back as cards, their large columns null: for those who move hundreds and read no contents. */
  asCards?: boolean
}

/** What an event keeps of the bulk run that caused it. */
export const BULK_DATA = `CASE WHEN m.in_bulk_id IS NOT NULL THEN jsonb_build_object('bulk_id', m.in_bulk_id) END`
