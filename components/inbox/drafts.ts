import { useSyncExternalStore } from 'react'
import { stored } from '../shell/stored'
import type { FieldValue } from './fields'

/** What somebody has typed into the form of a question and not yet sent. */
export interface Draft {
  fields: Record<string, FieldValue>
  comment: string
  /** When it was typed last, in milliseconds on this machine's clock. */
  at: number
}

const MOST = 50
const EMPTY: Draft = { fields: {}, comment: '', at: 0 }

const drafts = stored<Record<string, Draft>>('drafts', {})

const none = () => drafts.none

/** A question's draft, which outlives the page; shared by the tabs of this browser. */
export function useDraft(id: string): Draft {
  return useSyncExternalStore(drafts.subscribe, drafts.get, none)[id] ?? EMPTY
}

/** Keeps what has been typed; of more than fifty questions the drafts typed longest ago are let go. */
export function keepDraft(id: string, typed: Partial<Omit<Draft, 'at'>>): void {
  const all = drafts.get()
  const entries = Object.entries({ ...all, [id]: { ...EMPTY, ...all[id], ...typed, at: Date.now() } })
  drafts.set(Object.fromEntries(entries.sort(([, one], [, other]) => other.at - one.at).slice(0, MOST)))
}

/** Lets a draft go, once it is sent. */
export function forgetDraft(id: string): void {
  drafts.set(Object.fromEntries(Object.entries(drafts.get()).filter(([one]) => one !== id)))
}

/** Lets all drafts go, when their author signs out. */
export const forgetDrafts = (): void => drafts.set({})
