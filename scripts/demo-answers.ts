import { setTimeout as sleep } from 'node:timers/promises'
import { isPassing } from '#lib/sdk/persist'
import { type Client, Refusal } from '#lib/sdk/sdk'
import { QUEUE } from './demo-endpoints'
import type { Fields } from './demo-question'
import type { OpenQuestion } from './demo-terminal'

/** Says what is to be answered; null leaves a question to somebody else. */
export type Answerer = (
  question: OpenQuestion,
  isClosed: AbortSignal,
) => Promise<{ content: Fields; comment?: string } | null>

/** What answering needs. */
export interface Answering {
  /** With an endpoint apart from those that ask. */
  client: Client
  answer: Answerer
  /** Ends it. */
  signal: AbortSignal
  /** Hears of every answer given. */
  hear(question: OpenQuestion, content: Fields): void
}

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

async function answerOne({ client, answer, signal, hear }: Answering, question: OpenQuestion): Promise<boolean> {
  const closed = new AbortController()
  const stop = () => closed.abort()
  signal.addEventListener('abort', stop)
  const watching = watch(client, question.id, closed)
  try {
    const reply = await answer(question, closed.signal)
    if (!reply) return false
    await client.answerInterrupt({ id: question.id, ...reply })
    hear(question, reply.content)
    return true
  } catch (error) {
    if (closed.signal.aborted || isSettled(error)) return true
    throw error
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

const isSettled = (error: unknown): boolean =>
  error instanceof Refusal && (error.code === 'already_answered' || error.code === 'interrupt_closed')
