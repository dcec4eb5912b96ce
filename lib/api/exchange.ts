import type { Sink } from '#lib/live/sink'

/** A request as it came in, whichever server took it. */
export interface ApiRequest {
  /** As sent: `GET`, `POST` … */
  method: string
  /** The path as sent, percent-encoded. */
  path: string
  /** What follows the question mark, percent-encoded; empty when there is nothing. */
  query: string
  /** By lower-case name. */
  headers: Readonly<Record<string, string | undefined>>
  /** The body, or how to read it (refusing with payload_too_large); read only once the caller is known. */
  body?: string | Uint8Array | (() => Promise<Uint8Array>) | undefined
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal
  /** Whether the peer is this machine and no proxy stands between. */
  loopback: boolean
  /** The address of whoever sent it to us, a proxy's if one stands between; null when it cannot be known. */
  peer: string | null
}

/** What goes back: header names in lower case, a body that is complete, or what streams one. */
export interface ApiAnswer {
  status: number
  headers: Record<string, string>
  /** Values of Set-Cookie, of which an answer may have several. */
  cookies?: readonly string[]
  body: string
  /** What goes on writing after the headers, instead of the body. To be called once, even when the client has gone. */
  stream?: (sink: Sink) => void
}

/** A body may have this many bytes. */
export const MOST_BODY_BYTES = 8 * 1024 * 1024

/** What comes beyond that is read and dropped up to this many, so that the client gets to read why; then it is cut off. */
export const MOST_DROPPED_BYTES = 4 * MOST_BODY_BYTES
