import { setTimeout as sleep } from 'node:timers/promises'
import { isPassing } from '#lib/sdk/persist'
import { type Client, connect } from '#lib/sdk/sdk'
import { type Answerer, answerQuestions, tellers } from './demo-answers'
import { boardLines } from './demo-board'
import { type Crewman, hire } from './demo-crew'
import { castFor, QUEUE } from './demo-endpoints'
import { enqueuePackages } from './demo-enqueue'
import { discrepancies, readFacts } from './demo-facts'
import type { DemoFlags } from './demo-flags'
import { findPackages } from './demo-packages'
import { cutPower, type PowerCut } from './demo-power-cut'
import { reportOf, writeReport } from './demo-report'
import { summaryLines } from './demo-summary'
import type { Place } from './demo-switchboard'
import type { View } from './demo-view'
import { readStanding, type Standing } from './demo-watch'
import { ROOT } from './instance.mjs'
import { Problem } from './problem.mjs'

const CRAFT = { queue: QUEUE, concurrency: 2, leaseSeconds: 5 }
const LOOK_MS = 250
// As long as a database and a server take to come back.
const PATIENCE_SECONDS = 120

/** What a review needs. */
export interface Review {
  place: Place
  flags: DemoFlags
  view: View
  answer: Answerer
  signal: AbortSignal
}

/** Reviews the installed packages from beginning to end; false when something is not as promised, null when it was stopped. */
export async function review({ place, flags, view, answer, signal }: Review): Promise<boolean | null> {
  const beganAt = new Date()
  const packages = findPackages(ROOT).slice(0, flags.limit ?? undefined)
  const cast = await castFor(place, flags.workers)
  const client = connect({ url: place.url, token: cast.client, retrySeconds: PATIENCE_SECONDS })
  const responder = connect({ url: place.url, token: cast.responder, retrySeconds: PATIENCE_SECONDS })
  const { ids, takenOn } = await enqueuePackages(client, packages)
  view.line(
    `  ${ids.length} packages, one todo each in queue ${QUEUE} at ${place.url}${takenOn ? `; ${takenOn} left by an earlier run` : ''}\n`,
  )

  const craft = { ...CRAFT, url: place.url, paceMs: flags.paceMs }
  const crew = cast.workers.map((worker) => hire(worker, craft, (line) => view.line(`  ${view.paint('dim', line)}`)))
  const over = new AbortController()
  const stop = () => over.abort()
  signal.addEventListener('abort', stop)
  const show: Show = { client, ids: new Set(ids), crew, view, cut: null }
  const cutting = cutPower({ client, ids: show.ids, crew, signal: over.signal }).then((cut) => announce(show, cut))
  const answering = answerQuestions({ client: responder, answer, signal: over.signal, ...tellers(view) })
  try {
    await Promise.race([watchUntilDone(show, over.signal), failing(cutting), failing(answering)])
  } finally {
    stop()
    signal.removeEventListener('abort', stop)
    await Promise.allSettled([cutting, answering])
    view.clear()
    await Promise.all(crew.map((crewman) => crewman.stop()))
  }
  if (signal.aborted) return null

  const seconds = (Date.now() - beganAt.getTime()) / 1000
  const facts = await readFacts(client, ids)
  const wrong = discrepancies({ facts, expected: packages.length, cut: show.cut })
  const report = reportOf({ facts, cut: show.cut, beganAt, seconds, discrepancies: wrong })
  for (const line of summaryLines(report, view.paint)) view.line(line)
  view.line(`  Report: ${writeReport(report)}`)
  return wrong.length === 0
}

interface Show {
  client: Client
  ids: ReadonlySet<string>
  crew: readonly Crewman[]
  view: View
  cut: PowerCut | null
}

/** Only how it fails ends the race; that it is done means nothing. */
const failing = (work: Promise<unknown>): Promise<never> => work.then(() => new Promise<never>(() => {}))

function announce(show: Show, cut: PowerCut | null): void {
  show.cut = cut
  if (!cut) return
  const { view } = show
  const held = cut.held.map(({ title }) => title).join(', ')
  view.line(
    `  ${view.paint('red', '✗')} ${cut.victim.name} (process ${cut.victim.pid}) was killed with SIGKILL while it held ${view.paint('bold', held)}`,
  )
}

async function watchUntilDone(show: Show, signal: AbortSignal): Promise<void> {
  const beganAt = performance.now()
  let standing: Standing = { cards: new Map(), counts: {}, total: show.ids.size, isDone: false }
  while (!signal.aborted && !standing.isDone) {
    const seen = await readStanding(show.client, show.ids).catch(unlessPassing)
    if (seen) tellReturns(show, standing, seen)
    standing = seen ?? standing
    const note = seen ? '' : show.view.paint('yellow', 'Switchboard is away; waiting for it')
    show.view.status(boardLines({ standing, crew: show.crew, beganAt, note }, show.view.paint))
    if (!standing.isDone && !signal.aborted && show.crew.every(({ isAlive }) => !isAlive))
      throw new Problem('All workers have ended.')
    if (!standing.isDone) await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
  }
}

function unlessPassing(error: unknown): null {
  if (isPassing(error)) return null
  throw error
}

/** Says what came back from the killed worker, and that it was completed after all. */
function tellReturns({ view }: Show, before: Standing, now: Standing): void {
  for (const card of now.cards.values()) {
    const was = before.cards.get(card.id)
    if (card.lease_expirations > (was?.lease_expirations ?? 0)) {
      view.line(`  ${view.paint('cyan', '↺')} ${card.title} is back in the queue: its lease expired`)
    }
    if (card.lease_expirations > 0 && card.state === 'completed' && was && was.state !== 'completed') {
      view.line(`  ${view.paint('green', '✓')} ${card.title} was completed after all, in attempt ${card.attempts}`)
    }
  }
}
