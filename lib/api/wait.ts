import type { Core } from './core'

/** What a waiting read needs of its call. */
interface WaitingCall {
  core: Core
  query: { wait_seconds?: number | undefined }
  signal: AbortSignal
  stillMay(): Promise<void>
}

/** What is read, which todo's events may change it, and what there is no need to wait for. */
interface Reading<Read> {
  read(): Promise<Read>
  todoOf(read: Read): string
  isEnough(read: Read): boolean
}

/** Reads at once and, if `wait_seconds` says so, again after every event of the todo until it is enough or the time is up. */
export async function readPatiently<Read>(call: WaitingCall, { read, todoOf, isEnough }: Reading<Read>): Promise<Read> {
  const { core, query, signal } = call
  const first = await read()
  if (!query.wait_seconds || isEnough(first)) return first
  const reread = async () => {
    await call.stillMay()
    return read()
  }
  const patience = { timeoutMs: query.wait_seconds * 1000, signal }
  const found = await core.live.whenTodo(todoOf(first), patience, async () => {
    const now = await reread()
    return isEnough(now) ? now : null
  })
  return found ?? (signal.aborted ? first : reread())
}
