import { type ErrorCode, Refusal } from '#lib/model/errors'
import type { ClaimedTodo } from '#lib/wire/todo'
import { jittered } from './pause'

/** How far a worker has come, as its next heartbeat tells. */
export interface Progress {
  /** From 0 to 1. */
  ratio?: number
  message?: string
}

/** What a claim has used so far, in all. */
export interface Usage {
  cost_usd?: number
  tokens?: number
}

const MOST_MARGIN_MS = 1000
const SOON_MS = 1000
const LOST: ReadonlySet<ErrorCode> = new Set(['lease_lost', 'todo_terminal', 'not_found'])
const NEVER = Number.POSITIVE_INFINITY

/**
 * The right to work on one todo, as far as this process may believe in it: never longer than the server grants it, since
 * it is counted by a monotonic clock from before the request that armed it was sent.
 */
export class Lease {
  /** When the next heartbeat is due: never while a question is open or a heartbeat is under way. */
  beatAt = NEVER
  readonly spanMs: number
  readonly #over = new AbortController()
  readonly #onDue: () => void
  // uncertain: only a heartbeat can tell whether it still holds. resting: a question is open, and no clock of ours runs.
  #is: 'armed' | 'uncertain' | 'resting' | 'closed' = 'uncertain'
  #timer: ReturnType<typeof setTimeout> | undefined
  #progress: Progress | undefined
  #usage: Usage | undefined
  #isUsageTold = true
  #onArmed: (() => void) | undefined
  #isAsking = false
  #isParking = false
  #since = Number.NEGATIVE_INFINITY

  /** Of a todo whose claim was sent at `since`; `onDue` hears whenever `beatAt` has changed. */
  constructor(
    readonly todo: ClaimedTodo,
    since: number,
    onDue: () => void,
  ) {
    this.#onDue = onDue
    this.spanMs = todo.lease_seconds * 1000
    if (performance.now() < this.#usableUntil(since)) this.#arm(since)
  }

  /** Aborted once the lease is lost, or the worker lets go of it. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** Whether a question was open in it when last heard of, also after it was lost. */
  get isAsking(): boolean {
    return this.#isAsking
  }

  /** Resolves once it is certain that the lease holds; rejects with the reason when it doesn't. */
  async certain(): Promise<void> {
    this.signal.throwIfAborted()
    if (this.#is === 'armed') return
    this.#is = 'uncertain'
    this.#due(performance.now())
    await new Promise<void>((resolve, reject) => {
      const lost = () => reject(this.signal.reason)
      this.signal.addEventListener('abort', lost, { once: true })
      this.#onArmed = () => {
        this.signal.removeEventListener('abort', lost)
        resolve()
      }
    })
  }

  /** A question holds it from now on, however long that takes. */
  rest(): void {
    if (this.#is === 'closed') return
    this.#isAsking = true
    this.#quiet('resting')
  }

  /** What a heartbeat brings, taken by the one that is sent now. */
  takeBeat(): { id: string; lease_epoch: number; progress?: Progress; usage?: Usage } {
    const progress = this.#progress
    const usage = this.#isUsageTold ? undefined : this.#usage
    this.#progress = undefined
    this.#isUsageTold = true
    this.beatAt = NEVER
    return {
      id: this.todo.id,
      lease_epoch: this.todo.lease_epoch,
      ...(progress && { progress }),
      ...(usage && { usage }),
    }
  }

  /** What this claim has used, as it was last said; undefined when nothing was. */
  get usage(): Usage | undefined {
    return this.#usage
  }

  /** Keeps what was used, in all, and tells it with one of the next heartbeats, or with what ends the attempt. */
  use(usage: Usage): void {
    this.#usage = { ...this.#usage, ...usage }
    this.#isUsageTold = false
    this.#tellSoon()
  }

  /** A heartbeat sent at `since` was accepted; one that took longer than the lease says nothing, and another is due. */
  beaten(since: number): void {
    if (this.#is !== 'armed' && this.#is !== 'uncertain') return
    if (performance.now() < this.#usableUntil(since)) this.#arm(since)
    else this.#due(performance.now())
  }

  /** A heartbeat failed in passing: another is due soon. */
  missed(progress: Progress | undefined): void {
    this.#progress ??= progress
    this.#isUsageTold = this.#usage === undefined
    if (this.#is === 'armed' || this.#is === 'uncertain') {
      this.#due(performance.now() + jittered(Math.min(this.spanMs / 10, SOON_MS)))
    }
  }

  /** Keeps what is to be told, and tells it within a second or so. */
  report(progress: Progress): void {
    this.#progress = progress
    this.#tellSoon()
  }

  #tellSoon(): void {
    if (this.#is === 'armed' && this.beatAt !== NEVER) this.#due(Math.min(this.beatAt, performance.now() + SOON_MS))
  }

  /**
   * While it is being parked a refused heartbeat says nothing, since the parking itself may be why; what the parking came to
   * does.
   */
  async whileParking<Result>(park: () => Promise<Result>): Promise<Result> {
    this.#isParking = true
    try {
      return await park()
    } finally {
      this.#isParking = false
    }
  }

  /** A heartbeat was refused for good. */
  refused(reason: unknown): void {
    if (this.#isParking) this.missed(undefined)
    else this.lose(reason)
  }

  /** It is over for the handler, whose signal is aborted with this reason. */
  lose(reason: unknown): void {
    if (this.#is === 'closed') return
    this.close()
    this.#over.abort(reason)
  }

  /** Throws a refusal on, after losing the lease when that is what it says. */
  readonly loseIfLost = (error: unknown): never => {
    if (error instanceof Refusal && LOST.has(error.code)) this.lose(error)
    throw error
  }

  /** Stops its clock for good. */
  close(): void {
    this.#quiet('closed')
  }

  #usableUntil(since: number): number {
    return since + this.spanMs - Math.min(this.spanMs / 10, MOST_MARGIN_MS)
  }

  #arm(sentAt: number): void {
    // Answers may overtake each other: an older one must not shorten what a newer one has granted.
    const since = Math.max(sentAt, this.#since)
    this.#since = since
    this.#is = 'armed'
    this.#isAsking = false
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.lose(outOfReach()), Math.max(0, this.#usableUntil(since) - performance.now()))
    const soonest = this.#progress || !this.#isUsageTold ? performance.now() + SOON_MS : NEVER
    this.#due(Math.min(since + this.spanMs / 3, soonest))
    this.#onArmed?.()
  }

  #quiet(is: 'resting' | 'closed'): void {
    this.#is = is
    clearTimeout(this.#timer)
    this.beatAt = NEVER
  }

  #due(at: number): void {
    this.beatAt = at
    this.#onDue()
  }
}

const outOfReach = () =>
  new Refusal('lease_lost', { detail: 'No heartbeat reached the server in time to keep the lease' })
