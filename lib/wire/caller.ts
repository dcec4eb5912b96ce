import { z } from 'zod'
import type { Channel } from './interrupt'

/** What an endpoint's token may do (api.md, Who calls). */
export const SCOPES = ['enqueue', 'work', 'read', 'answer', 'operate'] as const
export const scope = z.enum(SCOPES)
export type Scope = z.infer<typeof scope>

/** What a person may do; each role may what the one before may. */
export const ROLES = ['viewer', 'responder', 'operator', 'admin'] as const
export const role = z.enum(ROLES)
export type Role = z.infer<typeof role>

/** An endpoint that calls with its token. */
export interface EndpointCaller {
  type: 'endpoint'
  id: string
  name: string
  scopes: readonly Scope[]
  /** The only queues it sees and uses; null means all. */
  queues: readonly string[] | null
  defaultLeaseSeconds: number | null
  channel: Channel
}

/** A person that calls with a session. */
export interface PersonCaller {
  type: 'person'
  id: string
  name: string
  role: Role
  queues: readonly string[] | null
  channel: Channel
}

/** Who is calling. */
export type Caller = EndpointCaller | PersonCaller

/** How the log names the caller when it acts as a client or a person. */
export const actorOf = (caller: Caller): string =>
  caller.type === 'endpoint' ? `client:${caller.name}` : `user:${caller.id}`
