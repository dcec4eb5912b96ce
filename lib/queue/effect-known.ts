import type { Db } from '#lib/db/connect'
import type { EndpointCaller } from '#lib/wire/caller'
import { ANSWER_DATA, ASKED, CLAIMABLE, GO_ON, REPLY } from './answer'
import { move } from './move'
import type { Plan } from './plan'

const KNOWN: Plan = {
  transition: 'effectKnown',
  input: REPLY,
  pick: { named: `${ASKED} AND t.owner IS NOT NULL` },
  set: GO_ON,
  data: ANSWER_DATA,
}

const KNOWN_PARKED: Plan = {
  ...KNOWN,
  transition: 'effectKnownParked',
  pick: { named: `${ASKED} AND t.owner IS NULL` },
  set: CLAIMABLE,
}

/** What a todo's open question is, and whether it asks if a certain effect happened. */
export interface OpenQuestion {
  id: string | null
  asksWhether: boolean
}

/** No question is open. */
export const NONE_OPEN: OpenQuestion = { id: null, asksWhether: false }

/** The question a todo has open, as it concerns the effect of this key; null when there is no such todo. */
export async function openQuestion(db: Db, todoId: string, key: string): Promise<OpenQuestion | null> {
  const [row] = await db.query<OpenQuestion>({
    name: 'open_question',
    text: `SELECT q.id, (q.effect_key = $2) IS TRUE AS "asksWhether" FROM todos t
      LEFT JOIN interrupts q ON q.id = t.open_interrupt_id WHERE t.id = $1`,
    values: [todoId, key],
  })
  return row ?? null
}

/** SQL: the condition that `todos t` still has that question open. What may open or close one locks the todo first. */
export const STILL_OPEN = 't.open_interrupt_id IS NOT DISTINCT FROM i.open_interrupt_id'

/** What the worker that began an effect knows of it. */
interface Knowledge {
  todoId: string
  interruptId: string
  happened: boolean
}

/**
 * Closes the question whether an effect happened with the word of the worker that began it, `resolved`: the todo goes on as
 * if a person had said so. The caller has locked the todo, in whose transaction this is.
 */
export async function closeDoubt(tx: Db, caller: EndpointCaller, known: Knowledge): Promise<void> {
  const { todoId: id, interruptId, happened } = known
  const by = `worker:${caller.name}`
  const reply = { answered_by: by, channel: caller.channel, action: 'accept', content: { happened } }
  const rows = [{ id, actor: by, interrupt_id: interruptId, ...reply }]
  // Held until now, or parked since it was looked at.
  if ((await move(tx, KNOWN, rows)).length === 0) await move(tx, KNOWN_PARKED, rows)
}
