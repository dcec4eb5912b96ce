/** A value that changes, as useSyncExternalStore wants it. */
export interface Store<Value> {
  get(): Value
  set(value: Value): void
  /** Calls back after each change; returns what ends that. */
  subscribe(changed: () => void): () => void
}

/** Makes a store; setting the value it has already tells nobody. */
export function createStore<Value>(first: Value): Store<Value> {
  const listeners = new Set<() => void>()
  let value = first
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return
      value = next
      for (const changed of [...listeners]) changed()
    },
    subscribe: (changed) => {
      // Wrapped, so that the same function subscribed twice is told twice and ended apart.
      const own = () => changed()
      listeners.add(own)
      return () => void listeners.delete(own)
    },
  }
}
