import type { z } from 'zod'
import type { ErrorCode } from '#lib/model/errors'
import type { Role, Scope } from './caller'

type Shape = z.ZodType

/** One thing a caller can ask for: where, who may, what goes in, what comes out, what can be refused. */
export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  /** The path under the server's root, its parameters in braces. */
  path: string
  summary: string
  /** Endpoints need one of these scopes; none: no endpoint may. `open`: nobody needs to say who they are. */
  scopes: readonly Scope[] | 'open'
  /** People need at least this role; none: no person may, since the operation belongs to the holder of a lease. */
  role?: Role
  params?: Shape
  query?: Shape
  body?: Shape
  /** What an answer of each status holds. */
  answers: Partial<Record<200 | 201 | 202, Shape>>
  /** Answers of 200 go on and on as this, each event's data as one of the shapes; otherwise they are JSON. */
  media?: 'text/event-stream'
  /** Refusals beyond those every operation can give. */
  refuses?: readonly ErrorCode[]
  /** A read that only looks; the opposite can be refused by a server that must not write. */
  writes: boolean
}

/** What a caller gets. */
export type OutputOf<Op extends Operation> = {
  [Status in keyof Op['answers']]: Op['answers'][Status] extends Shape ? z.output<Op['answers'][Status]> : never
}[keyof Op['answers']]
