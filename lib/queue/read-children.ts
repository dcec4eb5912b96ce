import { z } from 'zod'
import type { Db } from '#lib/db/connect'
import { type Child, type Children, childSchema, type Todo } from '#lib/wire/todo'
import { fromCursor, toCursor } from './read-cursor'

const PAGE = 200

// A page ends with the child whose result goes over this, so that a claim stays of a bearable size.
const MOST_BYTES = 4 * 1024 * 1024

const COLUMNS = Object.keys(childSchema.shape)
  .map((name) => `c.${name}`)
  .join(', ')

// The sizes are counted before any result is fetched; ids grow with time, so their order is that of making.
const CHILDREN = `SELECT k.id AS parent_id, ${COLUMNS}, s.more FROM unnest($1::text[]) AS k(id) CROSS JOIN LATERAL (
    SELECT n.id, n.nth < n.among AS more FROM (
      SELECT c.id, row_number() OVER w AS nth, count(*) OVER () AS among,
        sum(coalesce(pg_column_size(c.result), 0)) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM (SELECT id, result FROM todos WHERE parent_id = k.id AND id > $2 ORDER BY id LIMIT $3 + 1) c
      WINDOW w AS (ORDER BY c.id)) n
    WHERE n.nth <= $3 AND coalesce(n.before, 0) < ${MOST_BYTES}) s
  JOIN todos c ON c.id = s.id ORDER BY 1, 2`

type Row = Child & { parent_id: string; more: boolean }

/** The first page of children of each of these todos, by its id; those without any are not among them. */
export async function firstChildren(db: Db, parentIds: readonly string[]): Promise<Map<string, Children>> {
  const rows = parentIds.length > 0 ? await read(db, parentIds, '', PAGE) : []
  return new Map(
    parentIds
      .map((id) => [id, pageOf(rows.filter(({ parent_id }) => parent_id === id))] as const)
      .filter(([, { children }]) => children.length > 0),
  )
}

const cursorParts = z.tuple([z.literal('children'), z.string()])

/** A page of the children of a todo that `readTodo` found, in the order they were made. Refuses a bad cursor with validation_failed. */
export async function listChildren(
  db: Db,
  { id }: Pick<Todo, 'id'>,
  { limit = PAGE, cursor }: Paging,
): Promise<Children> {
  const [, after] = cursor === undefined ? ['children', ''] : fromCursor(cursor, cursorParts)
  return pageOf(await read(db, [id], after, limit))
}

interface Paging {
  limit?: number | undefined
  cursor?: string | undefined
}

const read = (db: Db, parentIds: readonly string[], after: string, limit: number): Promise<Row[]> =>
  db.query<Row>({ name: 'children', text: CHILDREN, values: [parentIds, after, limit] })

function pageOf(rows: readonly Row[]): Children {
  const last = rows.at(-1)
  return {
    children: rows.map(({ parent_id, more, ...child }) => child),
    next_cursor: last?.more ? toCursor(['children', last.id]) : null,
  }
}
