import type { ServerResponse } from 'node:http'
import type { Sink } from '#lib/live/sink'

/** A connection that is gone already. */
export const GONE: Sink = { write: () => false, onDrain: () => {}, onClose: (act) => act(), end: () => {} }

/** The connection of an answer of node:http whose headers have been written; it is closed after the stream. */
export function nodeSink(res: ServerResponse): Sink {
  const { socket } = res
  return {
    write: (bytes) => res.write(bytes),
    onDrain: (act) => void res.on('drain', act),
    onClose: (act) => {
      if (res.destroyed || socket?.destroyed) act()
      else res.once('close', act)
    },
    // A server that stops waits for connections that might be used again.
    end: () => void res.end(() => socket?.end()),
  }
}

// Next takes from us as its own connection takes from it.
const MOST_UNSENT_BYTES = 64 * 1024

/** A body of a web Response that a stream is written to; `signal` tells that the client has gone. */
export function webStream(write: (sink: Sink) => void, signal: AbortSignal): ReadableStream<Uint8Array> {
  const drains: (() => void)[] = []
  const closes: (() => void)[] = []
  let isClosed = false
  const close = () => {
    if (isClosed) return
    isClosed = true
    for (const act of closes) act()
  }
  // Not a stream of bytes, which would take the buffers away from the other clients that are sent the same.
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const gone = () => {
          if (isClosed) return
          close()
          controller.error(signal.reason)
        }
        write({
          write: (bytes) => {
            if (isClosed) return false
            controller.enqueue(bytes)
            return (controller.desiredSize ?? 0) > 0
          },
          onDrain: (act) => void drains.push(act),
          onClose: (act) => void (isClosed || signal.aborted ? act() : closes.push(act)),
          end: () => {
            if (isClosed) return
            controller.close()
            close()
          },
        })
        if (signal.aborted) gone()
        else signal.addEventListener('abort', gone, { once: true })
      },
      pull: () => {
        for (const act of drains) act()
      },
      cancel: close,
    },
    { highWaterMark: MOST_UNSENT_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
  )
  return body
}
