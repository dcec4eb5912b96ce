import { createServer } from 'node:http'

// Stands for the migration runner, the web process and the worker in the tests of what starts and supervises them.

const { SWITCHBOARD_PORT, SWITCHBOARD_HOST, NODE_ENV } = process.env
const [role] = process.argv.slice(2)

const answers = {
  '/readyz': () => 'ready',
  '/env': () =>
    JSON.stringify({ hasDatabase: Boolean(process.env.DATABASE_URL), host: SWITCHBOARD_HOST, mode: NODE_ENV }),
  '/crash': () => process.exit(7),
  '/stuck': () => process.removeAllListeners('SIGTERM').on('SIGTERM', () => {}) && 'stuck',
}

if (role === 'refuse') {
  process.stderr.write('20991231_future is unknown. The database is newer than this code.\n')
  process.exit(3)
}
if (role === 'broken') throw new Error('a setting is missing')
if (role === 'deaf') setInterval(() => {}, 1000)
if (role === 'serve') {
  createServer((request, response) => response.end(answers[request.url]?.() ?? 'hello')).listen(
    Number(SWITCHBOARD_PORT),
    SWITCHBOARD_HOST,
  )
  process.send?.({ notice: 'first admin here' })
  process.on('SIGTERM', () => process.exit(0))
  process.on('disconnect', () => process.exit(0))
}
