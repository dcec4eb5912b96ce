import { setTimeout as sleep } from 'node:timers/promises'
import { isPassing } from '#lib/sdk/persist'
import { type Client, Refusal } from '#lib/sdk/sdk'
import { QUEUE } from './demo-endpoints'
import { type Reply, replyWords } from './demo-question'
import type { OpenQuestion } from './demo-terminal'
import type { View } from './demo-view'

/** Says what is to be answered; null leaves a question to somebody else. */
export type Answerer = (question: OpenQuestion, isClosed: AbortSignal) => Promise<Reply | null>

/** What answering needs. */
export interface Answering {
  /** With an endpoint apart from those that ask. */
  client: Client
  answer: Answerer
  /** Ends it. */
  signal: AbortSignal
  /** Hears of every answer given. */
  hear(question: OpenQuestion, reply: Reply): void
  /** Hears of an approval that this endpoint cannot give, since it has asked for it. */
  leave(question: OpenQuestion): void
}

/** What says on the terminal how questions are answered. */
export const tellers = ({ line, paint }: View): Pick<Answering, 'hear' | 'leave'> => ({
  hear: ({ title }, reply) => line(`  ${paint('yellow', '?')} ${title} ${paint('bold', replyWords(reply))}`),
  leave: ({ title }) =>
    line(`  ${paint('yellow', '?')} ${title} Who asks cannot approve: somebody else has to, in the inbox`),
})

const LOOK_MS = 400
const PAGE = 200

/** Answers the demo's open questions, one after the other, until it is told to end. */
export async function answerQuestions(answering: Answering): Promise<void> {
  const { client, signal } = answering
  const left = new Set<string>()
  while (!signal.aborted) {
    const question = (await openQuestions(client)).find(({ id }) => !left.has(id))
    if (!question) await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
    else if (!(await answerOne(answering, question))) left.add(question.id)
  }
}

/** The questions that wait for an answer; none while Switchboard is away. */
async function openQuestions(client: Client): Promise<OpenQuestion[]> {
  try {
    return (await client.listInterrupts({ queue: QUEUE, status: 'open', limit: PAGE }, { retrySeconds: 0 })).interrupts
  } catch (error) {
    if (isPassing(error)) return []
    throw error
  }
}

async function answerOne({ client, answer, signal, hear, leave }: Answering, question: OpenQuestion): Promise<boolean> {
  const closed = new AbortController()
  const stop = () => closed.abort()
  signal.addEventListener('abort', stop)
  const watching = watch(client, question.id, closed)
  try {
    const reply = await answer(question, closed.signal)
    if (!reply) return false
    await client.answerInterrupt({ id: question.id, ...reply })
    hear(question, reply)
    return true
  } catch (error) {
    if (closed.signal.aborted || isSettled(error)) return true
    if (!isOwn(error, question)) throw error
    leave(question)
    return false
  } finally {
    closed.abort()
    signal.removeEventListener('abort', stop)
    await watching
  }
}

/** Aborts once somebody else has answered, or the question has closed otherwise. */
async function watch(client: Client, id: string, closed: AbortController): Promise<void> {
  const { signal } = closed
  while (!signal.aborted) {
    const seen = await client.getInterrupt({ id, wait_seconds: 25 }, { signal, retrySeconds: 0 }).catch(() => null)
    if (seen && seen.interrupt.status !== 'open') closed.abort()
    if (!seen) await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
  }
}

// With one token for all, who asks is who answers.
const isOwn = (error: unknown, { kind }: OpenQuestion): boolean =>
  kind === 'approval' && error instanceof Refusal && error.code === 'forbidden'

const isSettled = (error: unknown): boolean =>
  error instanceof Refusal && (error.code === 'already_answered' || error.code === 'interrupt_closed')
