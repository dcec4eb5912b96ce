import type { Event } from '#lib/wire/event'
import type { FrameData, FrameName } from '#lib/wire/frame'
import { cursorOf, isTold, type Mark, marked } from './cursor'
import { type Fact, factsOf } from './facts'
import type { Look } from './follow'

/** What somebody may see of the log, and asked to see. Those with the same key see the same. */
export interface View {
  key: string
  /** Whether it has what concerns this queue and todo; both are null for what belongs to none. */
  sees(fact: { queue: string | null; todoId: string | null }): boolean
  /** Whether it has what a setting was changed to, and by whom. */
  seesSettings: boolean
}

/** Bytes ready to be sent, and how many frames they hold. */
export interface Chunk {
  bytes: Uint8Array
  frames: number
}

/** What belongs together: one event with what follows from it, or one lease. */
interface Entry {
  /** The event's id; null for what is not of the log. */
  id: number | null
  queue: string | null
  todoId: string | null
  frames: number
  /** When it happened; null for what is not of the log. */
  at: string | null
  /** The text of its frames for those who were told everything before it; made once, when first asked for. */
  text(seesSettings: boolean): string
  /** The same for somebody who stands elsewhere. */
  textAt(seesSettings: boolean, mark: Mark): string
}

/** Frames that belong together. Each is written out once, however many are sent it. */
export interface Batch {
  /** What a view has of it; null when that is nothing. */
  chunkFor(view: View): Chunk | null
  /** Whether none of it has been told to somebody who stands at this mark. */
  isBeyond(told: Mark): boolean
  /** What a view has of it and has not been told, and where it stands then. */
  chunkBeyond(told: Mark, view: View): { chunk: Chunk | null; told: Mark }
}

/** One frame as text/event-stream has it. */
export function frameText<Name extends FrameName>(name: Name, data: FrameData[Name], cursor?: string): string {
  const id = cursor === undefined ? '' : `id: ${cursor}\n`
  return `event: ${name}\n${id}data: ${JSON.stringify(data)}\n\n`
}

/** The frames of a look. `mark` is where those who were told everything before it stand. */
export function batchOf({ events, cards }: Pick<Look, 'events' | 'cards'>, mark: Mark): Batch {
  let now = mark
  const entries = events.map((event) => {
    now = marked(now, event)
    return entryOf(event, factsOf(event, cards.get(event.todo_id ?? '') ?? null), now)
  })
  return createBatch(entries)
}

function entryOf({ id, queue, todo_id: todoId, verb, at }: Event, facts: Fact[], mark: Mark): Entry {
  const write = (seesSettings: boolean, from: Mark) => facts.map((fact) => textOf(fact, from, seesSettings)).join('')
  const shared = once((seesSettings) => write(seesSettings, mark))
  const isNote = verb === 'setting' || verb === 'bulk'
  return {
    ...{ id, queue, todoId, at, frames: facts.length, textAt: write },
    text: (seesSettings) => shared(seesSettings || !isNote),
  }
}

function textOf({ name, fact }: Fact, mark: Mark, seesSettings: boolean): string {
  if (name === 'transition') return frameText(name, fact, cursorOf(mark))
  if (name === 'ready') return frameText(name, fact)
  const { id: event_id, actor, data, at } = fact
  const note = seesSettings ? { event_id, actor, data, at } : { event_id, actor: null, data: null, at }
  return frameText(name, note, cursorOf(mark))
}

/** The frames of leases that changed. */
export const leaseBatch = (leases: readonly (FrameData['lease'] & { queue: string })[]): Batch =>
  createBatch(
    leases.map(({ queue, ...lease }) => {
      const write = once(() => frameText('lease', lease))
      const text = () => write(true)
      return { id: null, at: null, queue, todoId: lease.todo_id, frames: 1, text, textAt: text }
    }),
  )

function once(write: (whole: boolean) => string): (whole: boolean) => string {
  const texts = new Map<boolean, string>()
  return (whole) => {
    const known = texts.get(whole) ?? write(whole)
    texts.set(whole, known)
    return known
  }
}

function createBatch(entries: readonly Entry[]): Batch {
  const chunks = new Map<string, Chunk | null>()
  const first = entries.find(({ id }) => id !== null)?.id ?? Number.POSITIVE_INFINITY
  return {
    chunkFor: (view) => {
      const known = chunks.get(view.key)
      if (known !== undefined) return known
      const seen = entries.filter((entry) => view.sees(entry))
      const chunk = chunkOf(
        seen.map((entry) => entry.text(view.seesSettings)),
        seen,
      )
      chunks.set(view.key, chunk)
      return chunk
    },
    // Late ones come first, so nothing of it has been told when the first is later than all that has.
    isBeyond: ({ last }) => first > last,
    chunkBeyond: (told, view) => beyond(entries, told, view),
  }
}

function beyond(entries: readonly Entry[], told: Mark, view: View): { chunk: Chunk | null; told: Mark } {
  let mark = told
  const seen: Entry[] = []
  const texts: string[] = []
  for (const entry of entries) {
    const { id, at } = entry
    if (id !== null && isTold(mark, id)) continue
    if (id !== null && at !== null) mark = marked(mark, { id, at })
    if (!view.sees(entry)) continue
    seen.push(entry)
    texts.push(entry.textAt(view.seesSettings, mark))
  }
  return { chunk: chunkOf(texts, seen), told: mark }
}

function chunkOf(texts: readonly string[], entries: readonly Entry[]): Chunk | null {
  if (entries.length === 0) return null
  const frames = entries.reduce((sum, entry) => sum + entry.frames, 0)
  return { bytes: Buffer.from(texts.join('')), frames }
}
