import { type BulkRun, bulkSchema } from '#lib/wire/bulk'

/** SQL for a run's columns as they go on the wire, and for who ordered it as the log names them; `alias` names its row. */
export function bulkColumns(alias: string): { all: string; actor: string } {
  const by = `${alias}.ordered_by`
  const actor = `CASE WHEN ${by} ->> 'type' = 'endpoint' THEN 'client:' || (${by} ->> 'name') ELSE 'user:' || (${by} ->> 'id') END`
  const columns = COLUMNS.map((name) => (name === 'ordered_by' ? `${actor} AS ordered_by` : `${alias}.${name}`))
  return { all: columns.join(', '), actor }
}

const COLUMNS = Object.keys(bulkSchema.shape) as (keyof BulkRun)[]
