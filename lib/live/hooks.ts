import { log } from '#lib/ops/log'
import type { Event } from '#lib/wire/event'
import type { Ready, Transitioned } from '#lib/wire/frame'

/** What each hook is given. `setting` and `bulk` are facts without a todo, as they stand in the log. */
export interface Hooks {
  transition: Transitioned
  ready: Ready
  setting: Event
  bulk: Event
}

export type HookName = keyof Hooks

/** Adds an act to a hook and returns what takes it away again. */
export type On = <Name extends HookName>(name: Name, act: (fact: Hooks[Name]) => void) => () => void

/** The acts on each hook, in the order they were added. */
export interface HookTable {
  on: On
  /** Calls them all; one that throws is logged and never stops the others. */
  fire<Name extends HookName>(name: Name, fact: Hooks[Name]): void
  /** Whether anything is on any hook. */
  isUsed(): boolean
}

/** Makes an empty table. */
export function createHooks(): HookTable {
  const acts = new Map<HookName, Set<(fact: never) => void>>()
  return {
    on: (name, act) => {
      const own = acts.get(name) ?? new Set()
      acts.set(name, own)
      // Wrapped, so that the same function added twice is called and taken away twice.
      const added = (fact: never) => act(fact)
      own.add(added)
      return () => void own.delete(added)
    },
    fire: (name, fact) => {
      for (const act of acts.get(name) ?? []) {
        try {
          act(fact as never)
        } catch (error) {
          log.error({ err: error, hook: name }, 'a hook failed')
        }
      }
    },
    isUsed: () => [...acts.values()].some((own) => own.size > 0),
  }
}
