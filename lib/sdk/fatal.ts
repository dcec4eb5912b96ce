/** What a handler may say about a failure: an error it throws can carry any of these. */
export interface FailureHints {
  /** A short word for programs. */
  code?: string
  /** Any JSON, kept with the failure. */
  data?: unknown
  /** False sends the todo to the dead letters at once. */
  retryable?: boolean
  /** When to try again, instead of the backoff of 30 s doubling. */
  retryAfterSeconds?: number
}

/** Thrown by a handler: trying again would not help, so the todo fails at once. */
export class Fatal extends Error implements FailureHints {
  override readonly name = 'Fatal'
  readonly retryable = false
  readonly code: string
  readonly data: unknown

  constructor(
    message: string,
    { code = 'fatal', data, cause }: { code?: string; data?: unknown; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.code = code
    this.data = data
  }
}

/** The reason of a handler's signal when its worker stops: the todo is given back at no cost, for another to take. */
export class Stopped extends Error {
  override readonly name = 'Stopped'

  constructor() {
    super('The worker is stopping')
  }
}

/** The reason of a handler's signal when it has parked a question: whoever claims the todo once it is answered goes on. */
export class Parked extends Error {
  override readonly name = 'Parked'

  constructor() {
    super('The todo is parked until its question is answered')
  }
}

/** The reason of a handler's signal when it waits for its children: whoever claims the todo once they have ended goes on. */
export class Waiting extends Error {
  override readonly name = 'Waiting'

  constructor() {
    super('The todo waits until its children have ended')
  }
}
