import type { Db } from '#lib/db/connect'

/**
 * Runs `work` in a transaction and, before that commits, starts the calls, each once the one before waits for a lock of
 * the transaction or has ended; then commits, and tells what became of the calls.
 */
export async function overtaken<Result>(
  db: Db,
  work: (tx: Db) => Promise<unknown>,
  calls: (() => Promise<Result>)[],
): Promise<PromiseSettledResult<Result>[]> {
  const started: Started<Result>[] = []
  await db.transaction(async (tx) => {
    await work(tx)
    for (const call of calls) {
      started.push(start(call))
      while ((await blocked(db)) < started.filter(({ hasEnded }) => !hasEnded).length);
    }
  })
  return Promise.all(started.map(({ settled }) => settled))
}

/** Work for `overtaken` that only holds the todo's row. */
export const holding = (id: string) => (tx: Db) =>
  tx.query({ text: 'SELECT FROM todos WHERE id = $1 FOR UPDATE', values: [id] })

interface Started<Result> {
  settled: Promise<PromiseSettledResult<Result>>
  hasEnded: boolean
}

function start<Result>(call: () => Promise<Result>): Started<Result> {
  const started: Started<Result> = { hasEnded: false, settled: Promise.allSettled([call()]).then(([one]) => one) }
  void started.settled.then(() => {
    started.hasEnded = true
  })
  return started
}

async function blocked(db: Db): Promise<number> {
  const text = `SELECT count(*)::int AS blocked FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`
  return (await db.query<{ blocked: number }>({ text }))[0]?.blocked ?? 0
}
