import type { Db } from '#lib/db/connect'

const COLUMNS = [
  'available_at',
  'lease_expires_at',
  'interrupted_at',
  'wait_until',
  'deadline_at',
  'state_since',
  'created_at',
] as const

/** Seconds ago, by column of `todos`; negative ones lie ahead. */
export type Past = Partial<Record<(typeof COLUMNS)[number], number>>

/** Moves a todo's times, since tests never wait for the clock. */
export async function backdate(db: Db, id: string, past: Past): Promise<void> {
  const columns = COLUMNS.filter((column) => past[column] !== undefined)
  const set = columns.map((column, at) => `${column} = now() - make_interval(secs => $${at + 2})`)
  const values = [id, ...columns.map((column) => past[column])]
  await db.query({ text: `UPDATE todos SET ${set.join(', ')} WHERE id = $1`, values })
}
