import type { Transitioned } from '#lib/wire/frame'
import type { On } from './hooks'

/** What a claimer waits for. */
export interface Wanted {
  /** Todos of these queues; null means of all. */
  queues: readonly string[] | null
  /** The claiming endpoint's name: todos assigned to somebody else don't wake it. */
  endpoint: string
  /** Only this todo. */
  todoId?: string | undefined
}

/** How long somebody waits at most, and what ends the wait early: the client is gone. */
export interface Patience {
  timeoutMs: number
  signal?: AbortSignal | undefined
}

/** Those who wait in this process. */
export interface Waiters {
  /**
   * Calls `claim` at once and again whenever something it may take has become ready, until it yields something; empty
   * when the time is up or the client is gone, in which case it is not called again. Who came first is woken first, and
   * one todo wakes one claimer.
   */
  whenReady<Claimed>(wanted: Wanted, patience: Patience, claim: () => Promise<Claimed[]>): Promise<Claimed[]>
  /**
   * Calls `read` at once and again after every event of the todo, until it yields something; null when the time is up or
   * the client is gone.
   */
  whenTodo<Read>(todoId: string, patience: Patience, read: () => Promise<Read | null>): Promise<Read | null>
  /** Something may have become claimable without an event: a delay has passed, a queue is open again, there is room. */
  ring(): void
  /** Ends every wait, empty. */
  stop(): void
}

/** A todo that became claimable, or a bell that doesn't say which did. */
type Call = { todoId: string; queue: string; assignee: string | null } | 'bell'

interface Ticket {
  patience: Patience
  endsAt: number
  /** What it was woken for and has not yet looked into. */
  call: Call | null
  wake: () => void
}

interface Claimer extends Ticket {
  wanted: Wanted
  /** Claimers of one group can take the same todos. */
  group: string
}

const POLL_MS = 1000

// A claimer that a bell woke and that found something wakes two more, so that any number is awake after a few rounds.
const PASSED_ON = 2

/** Keeps claimers and readers waiting for what the log and the bells tell. */
export function createWaiters(on: On): Waiters {
  const claimers = new Set<Claimer>()
  const readers = new Map<string, Set<Ticket>>()
  let takeOff: (() => void) | null = null
  let isStopped = false

  const everybody = (): Ticket[] => [...claimers, ...[...readers.values()].flatMap((own) => [...own])]

  /** Listens to the log, and looks without a bell once a second, for as long as somebody waits. */
  function attend(): void {
    const isNeeded = claimers.size + readers.size > 0
    if (isNeeded && !takeOff) {
      const off = on('transition', hear)
      const poll = setInterval(ring, POLL_MS)
      takeOff = () => {
        off()
        clearInterval(poll)
      }
    } else if (!isNeeded) {
      takeOff?.()
      takeOff = null
    }
  }

  const offered = new WeakSet<object>()

  function hear({ todo, to, at }: Transitioned): void {
    if (!todo) return
    for (const reader of readers.get(todo.id) ?? []) rouse(reader, 'bell')
    // Gone already, due later, or told before by another event of the same look.
    if (to !== 'pending' || todo.state !== 'pending' || todo.available_at > at || offered.has(todo)) return
    offered.add(todo)
    offer({ todoId: todo.id, queue: todo.queue, assignee: todo.assignee })
  }

  function offer(call: Exclude<Call, 'bell'>): void {
    const first = [...claimers].find((claimer) => claimer.call === null && wants(claimer.wanted, call))
    if (first) rouse(first, call)
  }

  function ring(): void {
    for (const group of new Set([...claimers].map((claimer) => claimer.group))) ringGroup(group, 1)
  }

  function ringGroup(group: string, count: number): void {
    const idle = [...claimers].filter((claimer) => claimer.group === group && claimer.call === null)
    for (const claimer of idle.slice(0, count)) rouse(claimer, 'bell')
  }

  /** Whoever leaves with a call it didn't look into leaves it to the next. */
  function handOver({ call, group }: Claimer): void {
    if (call === 'bell') ringGroup(group, 1)
    else if (call) offer(call)
  }

  async function whenReady<Claimed>(wanted: Wanted, patience: Patience, claim: () => Promise<Claimed[]>) {
    const claimer: Claimer = { ...ticket(patience), wanted, group: groupOf(wanted) }
    claimers.add(claimer)
    attend()
    try {
      for (let spent: Call | null = null; !isGone(claimer); ) {
        claimer.call = null
        const claimed = await claim()
        if (claimed.length > 0) {
          if (spent === 'bell') ringGroup(claimer.group, PASSED_ON)
          return claimed
        }
        if (!(await roused(claimer))) break
        spent = claimer.call
      }
      return []
    } finally {
      claimers.delete(claimer)
      handOver(claimer)
      attend()
    }
  }

  async function whenTodo<Read>(todoId: string, patience: Patience, read: () => Promise<Read | null>) {
    const reader = ticket(patience)
    const own = readers.get(todoId) ?? new Set()
    readers.set(todoId, own.add(reader))
    attend()
    try {
      while (!isGone(reader)) {
        reader.call = null
        const found = await read()
        if (found !== null) return found
        if (!(await roused(reader))) break
      }
      return null
    } finally {
      own.delete(reader)
      if (own.size === 0) readers.delete(todoId)
      attend()
    }
  }

  const isGone = ({ patience }: Ticket): boolean => isStopped || patience.signal?.aborted === true

  /** Waits for a call; false when the time is up, the client gone or the process about to end. */
  function roused(waiting: Ticket): Promise<boolean> {
    if (isGone(waiting)) return Promise.resolve(false)
    if (waiting.call) return Promise.resolve(true)
    return new Promise((resolve) => {
      const { signal } = waiting.patience
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        waiting.wake = () => {}
        resolve(waiting.call !== null && !isGone(waiting))
      }
      const timer = setTimeout(done, Math.max(0, waiting.endsAt - performance.now()))
      signal?.addEventListener('abort', done, { once: true })
      waiting.wake = done
    })
  }

  return {
    whenReady,
    whenTodo,
    ring,
    stop: () => {
      isStopped = true
      for (const waiting of everybody()) waiting.wake()
    },
  }
}

const ticket = (patience: Patience): Ticket => ({
  patience,
  endsAt: performance.now() + patience.timeoutMs,
  call: null,
  wake: () => {},
})

function rouse(waiting: Ticket, call: Call): void {
  waiting.call = call
  waiting.wake()
}

const wants = ({ queues, endpoint, todoId }: Wanted, call: Exclude<Call, 'bell'>): boolean =>
  (queues === null || queues.includes(call.queue)) &&
  (call.assignee === null || call.assignee === endpoint) &&
  (todoId === undefined || todoId === call.todoId)

const groupOf = ({ queues, endpoint, todoId }: Wanted): string =>
  JSON.stringify([endpoint, todoId ?? null, queues && [...queues].sort()])
