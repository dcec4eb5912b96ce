import type { z } from 'zod'
import type { Operation, OutputOf } from '#lib/wire/operation'
import { OPERATIONS, type OperationName } from '#lib/wire/operations'
import { isRepeatable, marked } from './repeat'
import { type Given, requestFor } from './request'
import { type CallOptions, send, type Transport } from './send'

/** Where a Switchboard is and who is calling. */
export interface ConnectOptions {
  /** Its address, with no path; `''` in a page of its own. SWITCHBOARD_URL unless given. */
  url?: string
  /** An endpoint's token. SWITCHBOARD_TOKEN unless given; without one a browser's session counts. */
  token?: string
  fetch?: typeof fetch
  /** How long one sending may take, beyond what it asks the server to wait; 30. */
  timeoutSeconds?: number
  /** How long calls that may be repeated are repeated while the server is away; 30. */
  retrySeconds?: number
}

type InputOf<Part> = Part extends z.ZodType ? z.input<Part> : unknown

// A query is text on the wire; callers give the numbers it is read as.
type ReadAs<Part> = Part extends z.ZodType ? z.output<Part> : unknown

type GivenOf<Op extends Operation> = InputOf<Op['params']> & ReadAs<Op['query']> & InputOf<Op['body']>

type Call<Op extends Operation> =
  Partial<GivenOf<Op>> extends GivenOf<Op>
    ? (given?: GivenOf<Op>, options?: CallOptions) => Promise<OutputOf<Op>>
    : (given: GivenOf<Op>, options?: CallOptions) => Promise<OutputOf<Op>>

/**
 * One method for each operation of the API but the stream, named as there. It takes path parameters, query and body in one object and
 * gives the answer's JSON. Whatever the server refuses is thrown as the `Refusal` it threw; a server that cannot be
 * reached is `unavailable`. Calls whose repeat the server recognises are repeated meanwhile.
 */
export type Client = { [Name in CallName]: Call<(typeof OPERATIONS)[Name]> }

// A stream is no call: it has no answer that would be complete.
type CallName = {
  [Name in OperationName]: (typeof OPERATIONS)[Name] extends { media: string } ? never : Name
}[OperationName]

/** What a call gives, by the operation's name. */
export type AnswerOf<Name extends OperationName> = OutputOf<(typeof OPERATIONS)[Name]>

/** Makes a client; nothing is sent before its first call. */
export function connect(options: ConnectOptions = {}): Client {
  const transport = transportOf(options)
  const calls = Object.entries(OPERATIONS as Record<string, Operation>)
    .filter(([, { media }]) => !media)
    .map(([name, operation]) => {
      const call = (given: Given = {}, callOptions: CallOptions = {}) => {
        const complete = marked(operation, given)
        const sending = {
          request: requestFor(operation, complete),
          waitSeconds: Number(complete.wait_seconds ?? 0),
          isRepeatable: isRepeatable(name as OperationName, operation, complete),
        }
        return send(transport, sending, callOptions)
      }
      return [name, async (...args: Parameters<typeof call>) => call(...args)]
    })
  return Object.fromEntries(calls)
}

function transportOf(options: ConnectOptions): Transport {
  const { url = environment('SWITCHBOARD_URL'), token = environment('SWITCHBOARD_TOKEN') } = options
  if (url === undefined) throw new TypeError('Where is Switchboard? Give `url`, or set SWITCHBOARD_URL')
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw new TypeError('The token holds characters no token has')
  return {
    url: originOf(url),
    token,
    fetch: options.fetch ?? ((...args) => fetch(...args)),
    timeoutSeconds: options.timeoutSeconds ?? 30,
    retrySeconds: options.retrySeconds ?? 30,
  }
}

function originOf(url: string): string {
  if (url === '') return ''
  const { protocol, host } = URL.canParse(url) ? new URL(url) : { protocol: '', host: '' }
  if (/^https?:$/.test(protocol) && host) return url.replace(/\/+$/, '')
  throw new TypeError(`The url must look like http://127.0.0.1:4300, not "${url}"`)
}

function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  return process?.env?.[name] || undefined
}
