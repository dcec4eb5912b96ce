import type { FrameData, Leased, Noted, Transitioned } from '#lib/wire/frame'

export type { Leased, Noted, Transitioned }

/** What the stream's frames hold that are of use to a page, by their name; `resync`: what was missed must be fetched anew. */
export interface Frames extends Pick<FrameData, 'transition' | 'lease'> {
  setting: Pick<Noted, 'data'>
  bulk: Pick<Noted, 'data'>
  resync: unknown
}

/** A frame of the stream. */
export type Frame = { [Name in keyof Frames]: { name: Name; data: Frames[Name] } }[keyof Frames]

const NAMES: Record<keyof Frames, true> = { transition: true, lease: true, setting: true, bulk: true, resync: true }

/** The frame in an event of the stream, or null when it has none for a page. */
export function frameOf(name: string | undefined, data: string): Frame | null {
  return name !== undefined && Object.hasOwn(NAMES, name) ? ({ name, data: JSON.parse(data) } as Frame) : null
}
