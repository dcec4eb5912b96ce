import type { ClientBase } from 'pg'

/** Which part of a schema to list: everything, or only what schema.prisma can say (no CHECKs, no partial indexes). */
export type Extent = 'all' | 'prisma'

/** A database's own schema as sorted lines, equal for equal schemas whatever order things were made in. */
export async function catalog(client: ClientBase, extent: Extent): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(LINES[extent])
  return rows.map((row) => row.line.replaceAll('CURRENT_TIMESTAMP', 'now()')).sort()
}

const TABLES = `
  SELECT c.oid, c.relname FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> '_prisma_migrations'`

const columns = (notNull: string) => `
  SELECT format('column %s.%s %s%s%s', t.relname, a.attname, format_type(a.atttypid, a.atttypmod),
    CASE WHEN ${notNull} THEN ' not null' END, ' default ' || pg_get_expr(d.adbin, d.adrelid)) AS line
  FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum`

// Prisma has no word for whether a list may be null.
const EXPRESSIBLE = `a.attnotnull AND a.atttypid NOT IN (SELECT oid FROM pg_type WHERE typcategory = 'A')`

const KEYS = `
  SELECT format('constraint %s on %s %s', c.conname, t.relname, pg_get_constraintdef(c.oid)) AS line
  FROM tables t JOIN pg_constraint c ON c.conrelid = t.oid AND c.contype IN ('p', 'f')`

const CHECKS = `
  SELECT format('check %s on %s %s', c.conname, t.relname, pg_get_constraintdef(c.oid)) AS line
  FROM tables t JOIN pg_constraint c ON c.conrelid = t.oid AND c.contype NOT IN ('p', 'f', 'n')`

const INDEXES = `
  SELECT pg_get_indexdef(i.indexrelid) AS line, i.indpred IS NULL AND i.indexprs IS NULL AS expressible
  FROM tables t JOIN pg_index i ON i.indrelid = t.oid`

const STORAGE = `
  SELECT format('%s of %s: %s', 'options', t.relname, c.reloptions) AS line
  FROM tables t JOIN pg_class c USING (oid) WHERE c.reloptions IS NOT NULL`

const ROUTINES = `
  SELECT pg_get_functiondef(oid) AS line FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
  UNION ALL SELECT pg_get_triggerdef(g.oid) FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid WHERE NOT g.tgisinternal`

const list = (parts: string[]) => `WITH tables AS (${TABLES}), indexes AS (${INDEXES}) ${parts.join(' UNION ALL ')}`

const LINES: Record<Extent, string> = {
  all: list([columns('a.attnotnull'), KEYS, CHECKS, STORAGE, ROUTINES, 'SELECT line FROM indexes']),
  prisma: list([columns(EXPRESSIBLE), KEYS, 'SELECT line FROM indexes WHERE expressible']),
}
