/** What a worker says its claim has used so far: totals, so that saying it twice adds nothing. */
export interface Usage {
  cost_usd?: number | undefined
  tokens?: number | undefined
}

// A report that was overtaken by a later one, and so says less, adds nothing.
const amount = (name: 'cost_usd' | 'tokens', reported: string) => {
  const known = `coalesce((t.usage #>> '{claim,${name}}')::numeric, 0)`
  const claim = `greatest(${known}, coalesce((${reported} ->> '${name}')::numeric, 0))`
  return { claim, total: `(coalesce((t.usage #>> '{total,${name}}')::numeric, 0) + ${claim} - ${known})` }
}

const SECONDS_BEFORE = `coalesce((t.usage #>> '{total,seconds}')::numeric, 0)`

/** SQL: the seconds `todos t` has spent claimed, this claim's included. */
const SECONDS = `(${SECONDS_BEFORE} + CASE WHEN t.state = 'claimed' THEN extract(epoch FROM now() - t.state_since) ELSE 0 END)`

/** SQL for the usage of `todos t` after this report (SQL for jsonb, null for none); `seconds` is what it has spent claimed. */
function afterReport(reported: string, seconds: string): string {
  const cost = amount('cost_usd', reported)
  const tokens = amount('tokens', reported)
  return `jsonb_build_object('claim', jsonb_build_object('cost_usd', ${cost.claim}, 'tokens', ${tokens.claim}),
    'total', jsonb_build_object('cost_usd', ${cost.total}, 'tokens', ${tokens.total}, 'seconds', ${seconds}))`
}

/** SQL: the usage of a claimed `todos t` that goes on, after a report that may be null. */
export const usageSql = (reported: string): string =>
  `CASE WHEN ${reported} IS NULL THEN t.usage ELSE ${afterReport(reported, SECONDS_BEFORE)} END`

/** SQL: the usage of `todos t` when it may leave `claimed`, after a report that may be null. Kept of those that are counted. */
export const leavingUsageSql = (reported: string): string =>
  `CASE WHEN t.state = 'claimed' AND (t.budget IS NOT NULL OR t.usage IS NOT NULL OR ${reported} IS NOT NULL)
    THEN ${afterReport(reported, `round(${SECONDS}, 3)`)} ELSE t.usage END`

/** SQL: the usage of `todos t` when a new claim begins, of which nothing is reported yet. */
export const CLAIMED_USAGE = `CASE WHEN t.usage IS NOT NULL THEN t.usage || '{"claim": {"cost_usd": 0, "tokens": 0}}' END`

const OVER = {
  max_cost_usd: (reported: string) => amount('cost_usd', reported).total,
  max_tokens: (reported: string) => amount('tokens', reported).total,
  max_seconds: () => SECONDS,
} as const

/** SQL: which limits of its budget `todos t` is over after this report, as text; null when none. */
export const overBudgetSql = (reported: string): string => {
  const over = Object.entries(OVER).map(
    ([limit, spent]) => `CASE WHEN ${spent(reported)} > (t.budget ->> '${limit}')::numeric THEN '${limit}' END`,
  )
  return `CASE WHEN t.budget IS NOT NULL THEN nullif(concat_ws(', ', ${over.join(', ')}), '') END`
}

/** SQL: when a claimed `todos t` will have used up the time of its budget; null without such a limit. */
export const TIME_IS_UP = `t.state_since + make_interval(secs => ((t.budget ->> 'max_seconds')::numeric - ${SECONDS_BEFORE})::float8)`

/** SQL for the error of a todo that is over its budget after this report. */
export const overBudgetErrorSql = (
  reported: string,
): string => `jsonb_build_object('code', 'budget_exceeded', 'message',
  format('Over its budget: %s', ${overBudgetSql(reported)}),
  'data', jsonb_build_object('budget', t.budget, 'usage', ${leavingUsageSql(reported)} -> 'total'))`
