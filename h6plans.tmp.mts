import pg from 'pg'
import { up } from '/work/main/prisma/runner.ts'
const url = process.argv[2]
const c = new pg.Client({ connectionString: url }); await c.connect()
await up(c)
await c.query(`INSERT INTO queues (name, max_claimed) VALUES ('q', 50), ('r', null)`)
await c.query(`INSERT INTO todos (id, queue, title, state, max_attempts, lease_seconds, completed_at) SELECT 'd'||g, case when g%2=0 then 'q' else 'r' end, 't', 'completed', 3, 300, now() FROM generate_series(1,200000) g`)
await c.query(`INSERT INTO todos (id, queue, title, state, max_attempts, lease_seconds) SELECT 'p'||g, case when g%2=0 then 'q' else 'r' end, 't', 'pending', 3, 300 FROM generate_series(1,50000) g`)
await c.query(`INSERT INTO todos (id, queue, title, state, max_attempts, lease_seconds, owner, owner_endpoint_id, lease_expires_at) SELECT 'c'||g, 'q', 't', 'claimed', 3, 300, 'o','o', now()+interval '1h' FROM generate_series(1,30) g`)
await c.query('ANALYZE')
await c.end()
