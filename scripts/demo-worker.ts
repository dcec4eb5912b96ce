import { existsSync } from 'node:fs'
import { resolve, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { type Context, Fatal, type Json, worker } from '#lib/sdk/sdk'
import { type Evidence, judge, readEvidence, type Verdict } from './demo-licence'
import { type Fields, promptFor, readAnswer } from './demo-question'
import { workerName } from './demo-watch'
import { ROOT } from './instance.mjs'

// One of the demo's workers, a process of its own; SWITCHBOARD_URL and SWITCHBOARD_TOKEN say where and as whom.

const order = z.object({ name: z.string(), version: z.string(), path: z.string() })

const options = z.object({ queue: z.string(), concurrency: z.number(), leaseSeconds: z.number(), paceMs: z.number() })
const { queue, concurrency, leaseSeconds, paceMs } = options.parse(JSON.parse(process.argv[2] ?? '{}'))

async function review({ todo, signal, ask, progress }: Context): Promise<Json> {
  const about = order.parse(todo.payload)
  progress({ message: `reading ${about.path}` })
  const [evidence] = await Promise.all([readEvidence(folderOf(about.path)), sleep(paceMs, undefined, { signal })])
  const verdict = judge(evidence)
  const files = evidence.files.map(({ name, ids }) => ({ name, ids }))
  const reviewed = { ...about, declared: evidence.declared, files }
  if ('licence' in verdict) return { ...reviewed, ...verdict }
  return { ...reviewed, basis: 'person', doubt: verdict.doubt, ...(await decided({ about, evidence, verdict, ask })) }
}

interface Deciding {
  about: z.infer<typeof order>
  evidence: Evidence
  verdict: Extract<Verdict, { doubt: string }>
  ask: Context['ask']
}

/** Asks until the answer names a licence. */
async function decided({ about, evidence, verdict, ask }: Deciding) {
  for (let trouble: string | undefined; ; ) {
    const answer = await ask<Fields>(promptFor(about, evidence, verdict, trouble))
    const settled = readAnswer(answer)
    if ('licence' in settled) return { ...settled, answered_by: answer.answeredBy, comment: answer.comment }
    trouble = settled.trouble
  }
}

// What stands in a todo is no reason to read any other file of this machine.
function folderOf(path: string): string {
  const modules = resolve(ROOT, 'node_modules') + sep
  const folder = resolve(ROOT, path)
  if (!folder.startsWith(modules)) throw new Fatal(`${path} is not in node_modules`, { code: 'not_a_package' })
  if (!existsSync(folder)) throw new Fatal(`${path} is not installed any more`, { code: 'not_installed' })
  return folder
}

const running = worker({
  queues: [queue],
  concurrency,
  leaseSeconds,
  name: workerName(process.pid),
  handler: review,
  log: ({ level, message, todo, error }) => {
    const why = error instanceof Error ? `: ${error.message}` : ''
    console.log(`${level} ${message}${todo ? ` (${todo.title})` : ''}${why}`)
  },
})

process.send?.('ready')
// Without the demo there is nobody to work for.
process.once('disconnect', () => void running.stop())

await running.done.catch((error: Error) => {
  console.log(`error ${error.message}`)
  process.exitCode = 1
})
if (process.connected) process.disconnect()
