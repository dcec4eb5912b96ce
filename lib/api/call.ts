import type { z } from 'zod'
import type { Sink } from '#lib/live/sink'
import type { Caller, EndpointCaller, Role } from '#lib/wire/caller'
import type { OPERATIONS, OperationName } from '#lib/wire/operations'
import type { Core } from './core'
import type { ApiRequest } from './exchange'

type Rows = typeof OPERATIONS
type Part<Row, Name extends string> =
  Row extends Record<Name, infer Schema> ? (Schema extends z.ZodType ? z.output<Schema> : undefined) : undefined

/** Who may call: nobody in particular for what is open, an endpoint alone where no person may, else either. */
type CallerOf<Row> = Row extends { scopes: 'open' } ? null : Row extends { role: Role } ? Caller : EndpointCaller

/** A call of one operation: read, checked, and by somebody who may. */
export interface Call<Name extends OperationName> {
  core: Core
  caller: CallerOf<Rows[Name]>
  params: Part<Rows[Name], 'params'>
  query: Part<Rows[Name], 'query'>
  body: Part<Rows[Name], 'body'>
  /** Aborts when the client has gone. */
  signal: AbortSignal
  /** As sent, by lower-case name. */
  headers: ApiRequest['headers']
  /** Who calls by now; refuses once nobody may. */
  identify(): Promise<Caller>
  /** Throws unauthenticated once the caller may no longer call; for what happens after a wait. */
  stillMay(): Promise<void>
}

/** An answer as its operation's row promises it. */
export type Answer<Name extends OperationName> = {
  [Status in keyof Rows[Name]['answers']]: {
    status: Status
    body: Rows[Name]['answers'][Status] extends z.ZodType ? z.output<Rows[Name]['answers'][Status]> : never
  }
}[keyof Rows[Name]['answers']]

/** An answer that goes on and on: it is written on the connection it is given, even on one that is gone. */
export interface Streaming {
  status: 200
  stream(sink: Sink): void
}

/** What runs when each of these operations is called. */
export type Bindings<Names extends OperationName> = {
  [Name in Names]: (call: Call<Name>) => Promise<Rows[Name] extends { media: string } ? Streaming : Answer<Name>>
}

/** An answer of status 200. */
export const ok = <Body>(body: Body): { status: 200; body: Body } => ({ status: 200, body })
