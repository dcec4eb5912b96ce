import { Refusal } from '#lib/model/errors'
import type { Interrupt } from '#lib/wire/interrupt'
import type { Card } from '#lib/wire/todo'
import { type Approve, approvalOf } from './approve'
import { anewOf, askedAnew } from './asked-anew'
import type { Client } from './client'
import { EarlierAnswers, isFor } from './earlier-answers'
import { Parked, Stopped } from './fatal'
import type { Json } from './json'
import type { Lease } from './lease'
import { jittered, pause } from './pause'
import { isPassing, persist } from './persist'
import { type Answer, answerOf, type Content, type Prompt } from './prompt'

const WAIT_SECONDS = 25
const SPARE_MS = 1000

/** What asking needs of the attempt it belongs to. */
export interface Asker {
  client: Client
  lease: Lease
  /** Aborted once the worker is to stop. */
  stopping: AbortSignal
}

/** Asks a person, holding the lease meanwhile. */
export type Ask = <Fields = Content>(prompt: Prompt) => Promise<Answer<Fields>>

/**
 * Asks a person and lets go of the todo, leaving a checkpoint: this attempt ends here, and whoever claims the todo once it
 * is answered enters the handler anew, where the same call gives the answer.
 */
export type Park = <Fields = Content>(prompt: Prompt, checkpoint?: Json) => Promise<Answer<Fields>>

/**
 * Asks anew for an approval that no longer counts, held or parked as it was; gives what was said to it last. Null once it was
 * asked for often enough.
 */
export type AskAnew = (approval: Interrupt, why: string) => Promise<Answer<null> | null>

/** One attempt's ways to ask: one question after the other, since a todo has but one open. */
export function createAsk(asker: Asker): { ask: Ask; park: Park; approve: Approve; askAnew: AskAnew } {
  const earlier = new EarlierAnswers(asker.lease.todo.interrupts)
  let before: Promise<unknown> = Promise.resolve()
  function inTurn<Fields>(question: () => Promise<Interrupt> | Interrupt, key?: string): Promise<Answer<Fields>> {
    const asked = before.then(async () => {
      asker.lease.signal.throwIfAborted()
      return answerOf<Fields>(await question(), key)
    })
    before = asked.catch(() => {})
    return asked
  }
  return {
    ask: (prompt) => inTurn(() => earlier.take(prompt) ?? askPerson(asker, prompt), prompt.key),
    park: (prompt, checkpoint) => inTurn(() => earlier.take(prompt) ?? letGo(asker, prompt, checkpoint), prompt.key),
    approve: (proposal, options = {}) =>
      inTurn(async () => {
        const { prompt, asked } = await approvalOf(proposal)
        const wait = (one: Prompt) => (options.hold ? askPerson(asker, one) : letGo(asker, one, options.checkpoint))
        const said = earlier.takeApproval(asked) ?? (await wait(prompt))
        // Its key was asked for something else in this very attempt, and so was answered with that.
        return isFor(said, asked) ? said : wait({ ...prompt, key: undefined })
      }, proposal.key),
    askAnew: async (approval, why) => {
      const latest = earlier.latest(approval)
      if (latest.id !== approval.id) return answerOf(latest)
      const first = asker.lease.todo.interrupts.find(({ id }) => id === anewOf(approval)?.first) ?? approval
      const prompt = askedAnew(approval, first, why)
      const wait = approval.mode === 'hold' ? askPerson : letGo
      return prompt && inTurn(() => wait(asker, prompt))
    },
  }
}

/** Leaves the question and ends the attempt; gives an answer only where this attempt has already asked that, and got one. */
async function letGo(asker: Asker, prompt: Prompt, checkpoint?: Json): Promise<Interrupt> {
  const { lease } = asker
  const { todo, interrupt } = await lease.whileParking(() => send(asker, prompt, { mode: 'park', checkpoint }))
  if (isOurs(todo, lease) && interrupt.status !== 'open') return interrupt
  lease.lose(new Parked())
  throw lease.signal.reason
}

/** Sends the question; sent again after a lost answer, it is the same one. */
async function send(
  { client, lease }: Asker,
  { key, ...prompt }: Prompt,
  how: { mode: 'hold' | 'park'; checkpoint?: Json },
) {
  const { id, lease_epoch } = lease.todo
  const usage = lease.usage && { usage: lease.usage }
  const question = { ...prompt, ...how, ...usage, id, lease_epoch, request_id: key ?? crypto.randomUUID() }
  const ask = () => client.interrupt(question, { signal: lease.signal })
  const { todo, interrupt } = await persist(ask, { isWorthIt: isPassing, signal: lease.signal }).catch(lease.loseIfLost)
  if (interrupt) return { todo, interrupt }
  lease.lose(new Refusal('todo_terminal', { detail: 'Over its budget', state: todo.state }))
  throw lease.signal.reason
}

/** Opens the question and waits for its answer; without one the lease is lost, and so is the handler. */
async function askPerson(asker: Asker, prompt: Prompt): Promise<Interrupt> {
  const { lease, stopping } = asker
  // Nobody would be there to hear the answer: the todo goes back, and the next worker asks.
  const stop = () => lease.lose(new Stopped())
  if (stopping.aborted) stop()
  stopping.addEventListener('abort', stop)
  try {
    const interrupt = await closed(asker, await open(asker, prompt))
    if (interrupt.status === 'expired' || interrupt.status === 'canceled') {
      lease.lose(
        new Refusal('interrupt_closed', { detail: `The question is ${interrupt.status}`, status: interrupt.status }),
      )
    }
    // The answer armed the lease some time ago: only a heartbeat tells whether it still stands.
    await lease.certain()
    return interrupt
  } finally {
    stopping.removeEventListener('abort', stop)
  }
}

async function open(asker: Asker, prompt: Prompt): Promise<Interrupt> {
  const { interrupt } = await send(asker, prompt, { mode: 'hold' })
  if (interrupt.status === 'open') asker.lease.rest()
  return interrupt
}

/** Waits for as long as it takes; the server may be away meanwhile, since no lease runs down. */
async function closed({ client, lease }: Asker, asked: Interrupt): Promise<Interrupt> {
  const { signal } = lease
  const look = () => client.getInterrupt({ id: asked.id, wait_seconds: WAIT_SECONDS }, { signal, retrySeconds: 0 })
  for (let interrupt = asked; ; ) {
    if (interrupt.status !== 'open') return interrupt
    const since = performance.now()
    const answer = await persist(look, { isWorthIt: isPassing, signal }).catch((error: unknown) => {
      // A lease that rests would rest for ever.
      lease.lose(error)
      throw error
    })
    if (answer.interrupt.status === 'open' && !isOurs(answer.interrupt.todo, lease))
      lease.lose(new Refusal('lease_lost', { detail: 'The question was taken from this worker' }))
    signal.throwIfAborted()
    interrupt = answer.interrupt
    // A server that is closing down answers early.
    if (interrupt.status === 'open' && performance.now() - since < SPARE_MS) await pause(jittered(SPARE_MS), signal)
  }
}

const isOurs = ({ lease_epoch, owner }: Pick<Card, 'lease_epoch' | 'owner'>, { todo }: Lease): boolean =>
  lease_epoch === todo.lease_epoch && owner !== null
