import { startPostgres } from './scripts/postgres.mjs'
import { Client } from 'pg'
import { up } from './prisma/runner'
import { connect } from '#lib/db/connect'
import { tick } from '#worker/tick'
import { readClocks } from '#worker/clocks'
import { createSkips } from '#worker/skips'
import { log } from '#lib/ops/log'
import { chmodSync, mkdirSync, rmSync } from 'node:fs'
const home = '/tmp/h3-perf'; rmSync(home, {recursive:true, force:true}); mkdirSync(home); chmodSync(home, 0o755)
const server = await startPostgres({ dataDir: `${home}/pg`, settings: { fsync: 'on' } })
try {
  const client = new Client({ connectionString: server.url }); await client.connect(); await up(client)
  const db = connect({ databaseUrl: server.url, max: 4 })
  await client.query(`INSERT INTO queues(name) VALUES ('q')`)
  await client.query(`INSERT INTO todos (id, queue, title, max_attempts, lease_seconds, state, completed_at) SELECT gen_random_uuid()::text, 'q', 'Done', 3, 300, 'completed', now() FROM generate_series(1, 500000) n`)
  await client.query(`INSERT INTO todos (id, queue, title, max_attempts, lease_seconds) SELECT gen_random_uuid()::text, 'q', 'P', 3, 300 FROM generate_series(1, 100000) n`)
  await client.query(`VACUUM ANALYZE todos`)
  const ticking = { database: db, skips: createSkips(), ranAt: new Map(), log, signal: new AbortController().signal }
  const time = async (what: string, n: number, f: () => Promise<unknown>) => { const t: number[] = []; for (let i=0;i<n;i++){ const b=performance.now(); await f(); t.push(performance.now()-b)}; t.sort((a,b)=>a-b); console.log(what, 'min', t[0]?.toFixed(2), 'p50', t[n>>1]?.toFixed(2), 'max', t.at(-1)?.toFixed(2)) }
  await time('tick, nothing due', 30, () => tick(ticking))
  await time('clocks', 30, () => readClocks(db, { ttlSeconds: 86400, except: [], since: new Date().toISOString() }))
  await client.query(`UPDATE todos SET state='claimed', owner='e/w', owner_endpoint_id='e', lease_epoch=1, attempts=1, claimed_at=now(), lease_expires_at=now()-interval '1 s' WHERE id IN (SELECT id FROM todos WHERE state='pending' LIMIT 100000)`)
  await client.query(`INSERT INTO todo_attempts (todo_id, seq, lease_epoch, owner, endpoint_id) SELECT id, 1, 1, 'e/w','e' FROM todos WHERE state='claimed'`)
  const cpu = process.cpuUsage()
  const b = performance.now(); const t = await tick(ticking); console.log('reclaimed', t.expiries, (performance.now()-b).toFixed(0), 'ms', t.failures, 'own cpu ms', process.cpuUsage(cpu).user/1000)
  await time('tick after', 10, () => tick(ticking))
  await time('clocks after', 10, () => readClocks(db, { ttlSeconds: 86400, except: [], since: new Date().toISOString() }))
  await db.close(); await client.end()
} finally { await server.stop({ remove: true }); rmSync(home, {recursive:true, force:true}) }
