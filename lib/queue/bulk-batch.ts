import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import type { BulkAction } from '#lib/wire/bulk'
import { actorOf, type Caller } from '#lib/wire/caller'
import type { Todo } from '#lib/wire/todo'
import { cardColumns, todoOf } from '#lib/wire/todo-row'
import { tellOfBulk } from './bulk'
import { CANCEL, REJECT, whyNotEnded } from './cancel'
import { move } from './move'
import type { Plan } from './plan'
import { BULK_REQUEUE, requeueMany } from './requeue'
import { seesQueue } from './why-not'

/** How many todos of a run are moved in one transaction. */
export const BULK_ROWS = 500

/** How a batch is taken. */
export interface BulkBatch {
  /** How many at most. */
  limit: number
  /** Whether the log says how the run stands now; it does in any case when it is over. */
  tells: boolean
}

interface Run {
  id: string
  action: BulkAction
  reason: string | null
  caller: Caller
}

/** What became of todos, by id: null where it is done, else why not. */
type Outcomes = Map<string, Refusal | null>

/** The runs that are not over, oldest first. */
export async function runningBulks(db: Db): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: 'running_bulks',
    text: `SELECT id FROM bulk_runs WHERE status = 'running' ORDER BY id LIMIT 100`,
  })
  return rows.map(({ id }) => id)
}

/**
 * Moves the next todos of a run and writes down what became of each, in the caller's transaction: so none is done twice,
 * whenever the process ends. Gives how many those were; 0 when the run is over or was stopped.
 */
export async function takeBulkBatch(db: Db, id: string, { limit, tells }: BulkBatch): Promise<number> {
  const run = await lockRun(db, id)
  if (!run) return 0
  const ids = await nextIds(db, id, limit)
  await record(db, id, { outcomes: await act(db, run, ids), tells })
  return ids.length
}

/** Writes down that the next todo of a run could not be moved for a reason that is nobody's; gives its id. */
export async function skipInBulk(db: Db, id: string): Promise<string | null> {
  if (!(await lockRun(db, id))) return null
  const [todoId] = await nextIds(db, id, 1)
  if (todoId === undefined) return null
  const why = new Refusal('internal', { detail: 'It could not be moved; the log of the worker says why' })
  await record(db, id, { outcomes: new Map([[todoId, why]]), tells: false })
  return todoId
}

async function lockRun(db: Db, id: string): Promise<Run | null> {
  const [run] = await db.query<Run>({
    name: 'lock_bulk',
    text: `SELECT id, action, reason, ordered_by AS caller FROM bulk_runs WHERE id = $1 AND status = 'running' FOR UPDATE`,
    values: [id],
  })
  return run ?? null
}

async function nextIds(db: Db, id: string, limit: number): Promise<string[]> {
  const rows = await db.query<{ todo_id: string }>({
    name: `left_of_bulk_${limit}`,
    text: `SELECT todo_id FROM bulk_results WHERE bulk_id = $1 AND at IS NULL ORDER BY todo_id LIMIT ${limit}`,
    values: [id],
  })
  return rows.map(({ todo_id }) => todo_id)
}

async function record(db: Db, id: string, { outcomes, tells }: { outcomes: Outcomes; tells: boolean }): Promise<void> {
  const rows = [...outcomes].map(([todo_id, why]) => ({ todo_id, code: why?.code, detail: why?.message }))
  const failed = rows.filter(({ code }) => code !== undefined).length
  const [run] = await db.query<{ is_over: boolean }>({
    name: 'record_bulk',
    text: `WITH o AS (SELECT * FROM jsonb_to_recordset($2::jsonb) AS o(todo_id text, code text, detail text)),
      told AS (UPDATE bulk_results b SET at = now(), code = o.code, detail = o.detail FROM o
        WHERE b.bulk_id = $1 AND b.todo_id = o.todo_id AND b.at IS NULL)
      UPDATE bulk_runs r SET done = r.done + $3::int, failed = r.failed + $4::int, updated_at = now(),
        status = CASE WHEN r.done + r.failed + $3::int + $4::int = r.matched THEN 'completed' ELSE r.status END,
        ended_at = CASE WHEN r.done + r.failed + $3::int + $4::int = r.matched THEN now() END
      WHERE r.id = $1 RETURNING r.status = 'completed' AS is_over`,
    values: [id, JSON.stringify(rows), rows.length - failed, failed],
  })
  if (tells || run?.is_over) await tellOfBulk(db, id)
}

function act(db: Db, run: Run, ids: readonly string[]): Promise<Outcomes> {
  return run.action === 'requeue' ? putBack(db, run, ids) : end(db, run, ids)
}

async function putBack(db: Db, { id, reason, caller }: Run, ids: readonly string[]): Promise<Outcomes> {
  const requeueing = { reason: reason ?? undefined }
  const outcomes = await requeueMany(db, { ids, caller, requeueing, plan: BULK_REQUEUE, bulkId: id })
  return new Map([...outcomes].map(([todoId, outcome]) => [todoId, outcome instanceof Refusal ? outcome : null]))
}

const ENDS: Record<Exclude<BulkAction, 'requeue'>, { plan: Plan; already?: Todo['state'] }> = {
  cancel: { plan: { ...CANCEL, variant: 'bulk', asCards: true }, already: 'canceled' },
  reject: { plan: { ...REJECT, variant: 'bulk', asCards: true } },
}

async function end(db: Db, run: Run, ids: readonly string[]): Promise<Outcomes> {
  const ending = ENDS[run.action as keyof typeof ENDS]
  const outcomes: Outcomes = new Map()
  for (let left = ids; left.length > 0; left = left.filter((id) => !outcomes.has(id))) {
    const cards = await findCards(db, left, run.caller)
    for (const id of left) judge(cards.get(id) ?? null, { ...ending, run, id, outcomes })
    const rows = left.filter((id) => !outcomes.has(id)).map((id) => rowOf(run, id))
    if (rows.length === 0) continue
    for (const { todo } of await move(db, ending.plan, rows)) outcomes.set(todo.id, null)
  }
  return outcomes
}

interface Judging {
  plan: Plan
  already?: Todo['state']
  run: Run
  id: string
  outcomes: Outcomes
}

/** Notes what need not or may not be ended. */
function judge(card: Todo | null, { plan, already, run, id, outcomes }: Judging): void {
  const why = whyNotEnded(card, plan, run.caller)
  if (card && card.state === already) outcomes.set(id, null)
  else if (why) outcomes.set(id, why)
}

const rowOf = ({ id, reason, caller }: Run, todoId: string) => ({
  id: todoId,
  actor: actorOf(caller),
  reason,
  bulk_id: id,
})

async function findCards(db: Db, ids: readonly string[], caller: Caller): Promise<Map<string, Todo>> {
  const rows = await db.query({
    name: 'find_cards',
    text: `SELECT ${cardColumns('t')} FROM todos t WHERE t.id = ANY($1)`,
    values: [ids],
  })
  return new Map(rows.map(todoOf).flatMap((todo) => (seesQueue(caller, todo.queue) ? [[todo.id, todo]] : [])))
}
