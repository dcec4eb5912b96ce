import { createStore, type Store } from '#lib/query/store'

/** A choice of this browser's, kept in localStorage and shared with its other tabs. What is stored and unreadable counts as none. */
export function stored<Value>(key: string, none: Value): Store<Value> & { none: Value } {
  const name = `switchboard.${key}`
  const store = createStore(none)
  let isRead = false

  function read(): void {
    isRead = true
    try {
      store.set(JSON.parse(localStorage.getItem(name) ?? 'null') ?? none)
    } catch {
      store.set(none)
    }
  }

  function write(value: Value): void {
    store.set(value)
    try {
      localStorage.setItem(name, JSON.stringify(value))
    } catch {
      // Full, or forbidden: the choice lasts as long as the page.
    }
  }

  return {
    none,
    get: () => {
      if (!isRead) read()
      return store.get()
    },
    set: write,
    subscribe: (changed) => {
      const end = store.subscribe(changed)
      const onStorage = ({ key: changedKey }: StorageEvent) => changedKey === name && read()
      window.addEventListener('storage', onStorage)
      return () => {
        end()
        window.removeEventListener('storage', onStorage)
      }
    },
  }
}
