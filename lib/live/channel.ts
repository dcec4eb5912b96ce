import { type Batch, type Chunk, frameText, type View } from './batch'
import { covers, type Mark } from './cursor'
import type { Sink } from './sink'

/** One client's stream: what it sees of the log goes into its connection as fast as that takes it. */
export interface Channel {
  /** Gives it a batch: sent, kept until the connection drains, or held until it is released. */
  take(batch: Batch): void
  /** Sends a batch at once, whatever is held. */
  send(batch: Batch): void
  /** Says that what was missed must be fetched anew, unless that is to be said anyway. */
  resync(): void
  /** Sends text that may be left out: it is, while the connection takes nothing. */
  say(text: string): void
  /** From now on batches are held. Forgets those held before. */
  hold(): void
  /**
   * Sends what is held, without what has been told by then, and holds no more; nothing told is sent again. False, and
   * nothing happens, when more came than is held, or than may wait for a connection that takes nothing at the moment.
   */
  release(told: Mark | null): boolean
  /** Where the client stands that has been sent everything up to a mark; null while it has not. */
  standing(mark: Mark): Mark | null
  /** Resolves once the connection takes more, or is gone. */
  drained(): Promise<void>
  /** Sends a last text and ends the stream. */
  end(text?: string): void
  readonly isOver: boolean
  /** Calls back once it is over: ended, or the client has gone; at once when it is already. */
  onOver(act: () => void): void
}

/** How many frames wait for a connection that takes nothing; with more it has fallen behind. */
export const MOST_WAITING_FRAMES = 256

// A page is read in milliseconds; whoever waits longer for one reads what came meanwhile with the next.
const MOST_HELD = 64

const bytesOf = (text: string): Uint8Array => Buffer.from(text)
const RESYNC = bytesOf(frameText('resync', {}))

/**
 * Opens one on a connection. While that takes nothing at most 256 frames wait for it; beyond that they are dropped, and it
 * gets one `resync` instead once it takes more, then goes on with what comes next.
 */
export function createChannel(sink: Sink, view: View): Channel {
  let isBlocked = false
  let isOver = false
  let hasMissed = false
  let waiting: Chunk[] = []
  let held: Batch[] | null = null
  let told: Mark | null = null
  let overs: (() => void)[] = []
  let rouse: (() => void)[] = []

  const write = (bytes: Uint8Array) => {
    isBlocked = !sink.write(bytes)
  }

  function wakeAll(): void {
    const sleepers = rouse
    rouse = []
    for (const wake of sleepers) wake()
  }

  function drain(): void {
    isBlocked = false
    if (isOver) return
    const chunks = waiting
    waiting = []
    if (hasMissed) write(RESYNC)
    else if (chunks.length > 0) write(Buffer.concat(chunks.map(({ bytes }) => bytes)))
    hasMissed = false
    if (!isBlocked) wakeAll()
  }

  function put(chunk: Chunk | null): void {
    if (!chunk || isOver || hasMissed) return
    if (isBlocked) keep(chunk)
    else write(chunk.bytes)
  }

  function keep(chunk: Chunk): void {
    waiting.push(chunk)
    if (framesOf(waiting) > MOST_WAITING_FRAMES) miss()
  }

  function miss(): void {
    waiting = []
    hasMissed = true
    if (!isBlocked) drain()
  }

  function endHere(): void {
    if (isOver) return
    isOver = true
    waiting = []
    held = null
    wakeAll()
    const acts = overs
    overs = []
    for (const act of acts) act()
  }

  sink.onDrain(drain)
  sink.onClose(endHere)

  /** What is to be sent of batches, by what has been told; tells it. */
  function chunksOf(batches: readonly Batch[], by: Mark | null): { chunks: Chunk[]; told: Mark | null } {
    let mark = by
    const chunks = batches.map((batch) => {
      if (!mark || batch.isBeyond(mark)) return batch.chunkFor(view)
      const { chunk, told: next } = batch.chunkBeyond(mark, view)
      mark = next
      return chunk
    })
    return { chunks: chunks.filter((chunk) => chunk !== null), told: mark }
  }

  function pass(batch: Batch): void {
    const { chunks, told: next } = chunksOf([batch], told)
    told = next
    for (const chunk of chunks) put(chunk)
  }

  return {
    take: (batch) => {
      if (!held) pass(batch)
      else if (held.length <= MOST_HELD) held.push(batch)
    },
    send: (batch) => put(batch.chunkFor(view)),
    resync: () => {
      if (!isOver) miss()
    },
    say: (text) => {
      if (!isOver && !isBlocked) write(bytesOf(text))
    },
    hold: () => {
      held = []
    },
    release: (by) => {
      if (held && held.length > MOST_HELD) return false
      const found = chunksOf(held ?? [], by)
      if (isBlocked && framesOf(found.chunks) > MOST_WAITING_FRAMES) return false
      held = null
      told = found.told
      for (const chunk of found.chunks) put(chunk)
      return true
    },
    standing: (mark) => {
      if (held || isBlocked) return null
      if (told && !covers(mark, told)) return told
      told = null
      return mark
    },
    drained: () => (isBlocked && !isOver ? new Promise((resolve) => rouse.push(resolve)) : Promise.resolve()),
    end: (text) => {
      if (isOver) return
      if (text !== undefined) sink.write(bytesOf(text))
      sink.end()
      endHere()
    },
    get isOver() {
      return isOver
    },
    onOver: (act) => {
      if (isOver) act()
      else overs.push(act)
    },
  }
}

const framesOf = (chunks: readonly Chunk[]): number => chunks.reduce((sum, { frames }) => sum + frames, 0)
