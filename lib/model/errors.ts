/** Every refusal there is: its HTTP status and title. Codes are what callers test for; details are for people. */
export const ERRORS = {
  invalid_request: { status: 400, title: 'The request could not be read' },
  unauthenticated: { status: 401, title: 'Who are you?' },
  forbidden: { status: 403, title: 'Not allowed' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  lease_lost: { status: 409, title: 'The lease is no longer yours' },
  todo_terminal: { status: 409, title: 'The todo has ended' },
  invalid_state: { status: 409, title: 'Not possible in this state' },
  already_answered: { status: 409, title: 'Somebody answered before' },
  interrupt_closed: { status: 409, title: 'The question is closed' },
  interrupt_open: { status: 409, title: 'Another question is open' },
  no_children: { status: 409, title: 'Nothing to wait for' },
  duplicate_key: { status: 409, title: 'A live todo has this idempotency key' },
  effect_uncertain: { status: 409, title: 'It is not known whether the effect happened' },
  approval_mismatch: { status: 409, title: 'The approval does not cover this effect' },
  version_conflict: { status: 409, title: 'Changed by somebody else meanwhile' },
  payload_too_large: { status: 413, title: 'Too large' },
  unsupported_media_type: { status: 415, title: 'Send application/json' },
  validation_failed: { status: 422, title: 'The request is not valid' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Something went wrong here' },
  unavailable: { status: 503, title: 'Not available at the moment' },
} as const satisfies Record<string, { status: number; title: string }>

export type ErrorCode = keyof typeof ERRORS

/** One violation: a JSON pointer into the request (`""` is the whole) and what is wrong there. */
export interface Violation {
  pointer: string
  message: string
}

/** What a refusal knows besides its code; `state` is the todo's current state, the rest goes on the wire as it is. */
export interface RefusalFacts {
  detail?: string
  state?: string
  errors?: Violation[]
  retry_after_seconds?: number
  [fact: string]: unknown
}

/** A refusal: thrown once where the rule is, turned into problem+json at the edge, thrown again by the SDK. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly title: string

  constructor(
    readonly code: ErrorCode,
    readonly facts: RefusalFacts = {},
  ) {
    super(facts.detail ?? ERRORS[code].title)
    this.status = ERRORS[code].status
    this.title = ERRORS[code].title
  }
}
