import { type Connection, openConnection } from './connection'
import { standForLeader } from './leader'
import type { Told } from './listening'
import type { StreamStatus } from './stream-status'

/** What tabs say to each other. */
type Message =
  | ({ type: 'told' } & Told)
  | { type: 'status'; status: StreamStatus }
  /** A tab is new here, or has woken: how does it stand? The leader looks after its stream, and answers. */
  | { type: 'ask' }

export interface StreamEnds {
  hear(told: Told): void
  stand(status: StreamStatus): void
}

/** This tab's end of the one stream that all tabs of the browser share. */
export interface SharedStream {
  /** To be called when the page may have slept or come online. */
  wake(): void
  close(): void
}

const CHANNEL = 'switchboard.stream'
const WATCH_MS = 5_000
const ANSWER_MS = 2_000
// A leader says something at every beat, every 15 s, and at every try to connect, at least every 30 s.
const SILENT_MS = 45_000

/** Shares one stream among tabs: the leader has the connection, and tells the others; another goes on where it ended. */
export function shareStream({ hear, stand }: StreamEnds): SharedStream {
  const channel = new BroadcastChannel(CHANNEL)
  let connection: Connection | null = null
  let status: StreamStatus = { kind: 'connecting' }
  let cursor: string | null = null
  let heardAt = Date.now()

  const say = (message: Message) => channel.postMessage(message)

  function told(news: Told): void {
    cursor = news.cursor ?? cursor
    hear(news)
  }

  function stands(now: StreamStatus): void {
    status = now
    stand(now)
  }

  function lead(): () => void {
    const own = openConnection({
      cursor,
      hear: (news) => {
        told(news)
        say({ type: 'told', ...news })
      },
      stand: (now) => {
        stands(now)
        say({ type: 'status', status: now })
      },
    })
    connection = own
    return () => {
      own.close()
      connection = null
      heardAt = Date.now()
    }
  }

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    // Only the leader tells; other followers ask as well.
    if (data.type !== 'ask') heardAt = Date.now()
    if (data.type === 'told') told(data)
    else if (data.type === 'status') stands(data.status)
    else if (connection) {
      connection.wake()
      say({ type: 'status', status })
    }
  }

  const candidacy = standForLeader(lead)
  const watch = setInterval(() => {
    if (!connection && Date.now() - heardAt > SILENT_MS) candidacy.takeOver()
  }, WATCH_MS)
  say({ type: 'ask' })

  return {
    wake: () => {
      if (connection) return connection.wake()
      const askedAt = Date.now()
      say({ type: 'ask' })
      setTimeout(() => {
        if (!connection && heardAt < askedAt) candidacy.takeOver()
      }, ANSWER_MS)
    },
    close: () => {
      clearInterval(watch)
      candidacy.leave()
      channel.close()
    },
  }
}
