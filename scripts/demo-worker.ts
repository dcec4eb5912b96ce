import { existsSync } from 'node:fs'
import { resolve, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { type Context, Fatal, type Json, worker } from '#lib/sdk/sdk'
import { dutyOf, proposalFor } from './demo-duties'
import { type Evidence, evidenceSchema, judge, readEvidence, type Verdict } from './demo-licence'
import { type Fields, promptFor, readAnswer } from './demo-question'
import { workerName } from './demo-watch'
import { ROOT } from './instance.mjs'

// One of the demo's workers, a process of its own; SWITCHBOARD_URL and SWITCHBOARD_TOKEN say where and as whom.

const order = z.object({ name: z.string(), version: z.string(), path: z.string() })
type Order = z.infer<typeof order>

const options = z.object({ queue: z.string(), concurrency: z.number(), leaseSeconds: z.number(), paceMs: z.number() })
const { queue, concurrency, leaseSeconds, paceMs } = options.parse(JSON.parse(process.argv[2] ?? '{}'))

/** Entered anew after every question it has parked, with what it read before and all the answers. */
async function review(context: Context): Promise<Json> {
  const about = order.parse(context.todo.payload)
  const evidence = readBefore(context) ?? (await read(context, about))
  const verdict = judge(evidence)
  const settled = 'licence' in verdict ? verdict : await decided(context, { about, evidence, verdict })
  const files = evidence.files.map(({ name, ids }) => ({ name, ids }))
  const shipping = await allowed(context, { about, evidence, licence: settled.licence })
  return { ...about, declared: evidence.declared, files, ...settled, ...(shipping && { shipping }) }
}

const checkpoint = z.object({ evidence: evidenceSchema })

function readBefore(context: Context): Evidence | null {
  return checkpoint.safeParse(context.checkpoint).data?.evidence ?? null
}

async function read({ progress, signal }: Context, { path }: Order): Promise<Evidence> {
  progress({ message: `reading ${path}` })
  const [evidence] = await Promise.all([readEvidence(folderOf(path)), sleep(paceMs, undefined, { signal })])
  return evidence
}

interface Deciding {
  about: Order
  evidence: Evidence
  verdict: Extract<Verdict, { doubt: string }>
}

/** Asks until the answer names a licence. A contradiction is soon seen through, so it is held; research takes who knows how long. */
async function decided({ ask, park }: Context, { about, evidence, verdict }: Deciding) {
  const isHeld = verdict.doubt === 'conflicting'
  for (let trouble: string | undefined; ; ) {
    const prompt = promptFor(about, evidence, verdict, trouble)
    const answer = await (isHeld ? ask<Fields>(prompt) : park<Fields>(prompt, { evidence }))
    const settled = readAnswer(answer)
    if ('licence' in settled) {
      const { answeredBy: answered_by, comment } = answer
      return { basis: 'person', doubt: verdict.doubt, ...settled, answered_by, comment }
    }
    trouble = settled.trouble
  }
}

interface Licensed {
  about: Order
  evidence: Evidence
  licence: string
}

/** Who said whether it may be shipped; null where its licence asks for nothing. */
async function allowed({ approve }: Context, { about, evidence, licence }: Licensed) {
  const duty = dutyOf(licence)
  if (!duty) return null
  const said = await approve(proposalFor(about, licence, duty), { checkpoint: { evidence } })
  return { allowed: said.action === 'accept', risk: duty.risk, decided_by: said.answeredBy, comment: said.comment }
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
