import type { Db } from '#lib/db/connect'
import type { Todo } from '#lib/wire/todo'
import { HELD_BY, HELD_INPUT, heldRow } from './held'
import { move } from './move'
import type { Plan } from './plan'
import { overBudgetErrorSql, overBudgetSql, type Usage } from './usage'
import type { Held } from './why-not'

const EXCEED: Plan = {
  transition: 'exceedBudget',
  input: { ...HELD_INPUT, usage: 'jsonb' },
  pick: { named: `${HELD_BY} AND (${overBudgetSql('i.usage')}) IS NOT NULL` },
  error: overBudgetErrorSql('p.in_usage'),
}

/** A worker's report under its lease. */
export type Report = Held & { usage?: Usage | undefined }

/**
 * Fails those of these that what they report puts over their budget, and returns them as failed; whoever reported must not
 * go on to what else was asked for. One that reports nothing is left alone.
 */
export async function exceedBudgets(db: Db, reports: readonly Report[]): Promise<Todo[]> {
  const rows = reports
    .filter(({ usage }) => usage !== undefined)
    .map((report) => heldRow(report, { usage: report.usage }))
  if (rows.length === 0) return []
  return (await move(db, EXCEED, rows)).map(({ todo }) => todo)
}
