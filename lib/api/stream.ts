import type { View } from '#lib/live/batch'
import type { NoPlace } from '#lib/live/places'
import { Refusal } from '#lib/model/errors'
import { log } from '#lib/ops/log'
import { readTodo } from '#lib/queue/read-todo'
import { recentSettings } from '#lib/queue/settings'
import { seesQueue } from '#lib/queue/why-not'
import type { Caller } from '#lib/wire/caller'
import type { Bindings, Call } from './call'

/** What keeps proxies and compression from holding frames back. */
export const STREAM_HEADERS: Record<string, string> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'content-encoding': 'none',
  'x-accel-buffering': 'no',
}

type StreamCall = Call<'streamEvents'>

/** What happens, as it happens. */
export const STREAM_BINDINGS: Bindings<'streamEvents'> = {
  streamEvents: async (call) => {
    const { core, caller, query, headers } = call
    const view = await viewOf(call)
    const { sse_retry_ms } = await recentSettings(core.database)
    const place = core.live.streams.reserve(`${caller.type} ${caller.id}`)
    if (typeof place === 'string') throw noPlace(place)
    const cursor = headers['last-event-id'] || query.last_event_id || null
    const wish = { view, cursor, retryMs: sse_retry_ms.value, stillMay: () => stillMay(call) }
    return { status: 200, stream: (sink) => place.open(sink, wish) }
  },
}

/** Refuses a queue outside the caller's with forbidden and a todo it cannot see with not_found. */
async function viewOf({ core, caller, query }: StreamCall): Promise<View> {
  const { queue, todo_id } = query
  if (queue !== undefined && !seesQueue(caller, queue)) {
    throw new Refusal('forbidden', { detail: `Queue ${queue} is not among yours` })
  }
  if (todo_id !== undefined) await readTodo(core.database, todo_id, caller)
  const seesSettings = caller.type === 'person' && caller.role === 'admin'
  const queues = caller.queues && [...caller.queues].sort()
  return {
    key: JSON.stringify([queue ?? null, todo_id ?? null, queues, seesSettings]),
    seesSettings,
    sees: (fact) =>
      (queue === undefined || fact.queue === queue) &&
      (todo_id === undefined || fact.todoId === todo_id) &&
      (queues === null || (fact.queue !== null && queues.includes(fact.queue))),
  }
}

function noPlace(reason: NoPlace): Refusal {
  if (reason === 'caller') {
    const detail = 'Too many event streams are open for this caller: close one'
    return new Refusal('rate_limited', { detail, retry_after_seconds: 30 })
  }
  const detail = reason === 'all' ? 'Too many event streams are open' : 'The server is about to stop'
  return new Refusal('unavailable', { detail, retry_after_seconds: reason === 'all' ? 30 : 2 })
}

/** Whether whoever opened the stream still may what they could then; while that cannot be asked, yes. */
async function stillMay({ identify, caller }: StreamCall): Promise<boolean> {
  try {
    return rightsOf(await identify()) === rightsOf(caller)
  } catch (error) {
    if (error instanceof Refusal) return error.code === 'unavailable'
    log.debug({ err: error }, 'a stream could not be checked')
    return true
  }
}

// What narrows ends the stream, and what widens too: it begins anew with what is seen then.
const rightsOf = (caller: Caller): string =>
  JSON.stringify(
    caller.type === 'endpoint'
      ? [caller.id, caller.queues, [...caller.scopes].sort()]
      : [caller.id, caller.queues, caller.role],
  )
