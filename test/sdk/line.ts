/** One call as it went over the line. */
export interface LineCall {
  method: string
  /** Without the query. */
  path: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any
}

/** The line between an SDK and the server, which a test can disturb; what passes is the real thing. */
export interface Line {
  fetch: typeof fetch
  /** The calls sent to paths that end so, whatever became of them. */
  to(end: string): LineCall[]
  /** Resolves once so many calls to paths that end so have been answered. */
  until(end: string, times: number): Promise<void>
  /** Resolves once so many have been sent. */
  untilSent(end: string, times: number): Promise<void>
  /** From now on nothing goes through, until `mend`. */
  cut(): void
  mend(): void
  /** Loses the answers of the next calls to paths that end so, after the server has done what they ask. */
  loseAnswers(end: string, times: number): void
  /** Does this before the next call to a path that ends so goes through. */
  before(end: string, act: () => Promise<unknown>): void
  /** Answers the next calls to paths that end so in the server's place. */
  intercept(end: string, responses: Response[]): void
}

export function createLine(): Line {
  const sent: LineCall[] = []
  const answered: LineCall[] = []
  const losses: string[] = []
  const first: { end: string; act: () => Promise<unknown> }[] = []
  const instead: { end: string; response: Response }[] = []
  let waiting: { isDone(): boolean; resolve(): void }[] = []
  let isCut = false

  function tell(): void {
    const done = waiting.filter(({ isDone }) => isDone())
    waiting = waiting.filter((one) => !done.includes(one))
    for (const { resolve } of done) resolve()
  }

  const until = (among: LineCall[], end: string, times: number) =>
    new Promise<void>((resolve) => {
      waiting.push({ isDone: () => among.filter(({ path }) => path.endsWith(end)).length >= times, resolve })
      tell()
    })

  async function through(url: string, init: RequestInit): Promise<Response> {
    const call = callOf(url, init)
    sent.push(call)
    tell()
    if (isCut) throw new TypeError('the line is cut')
    await takeFirst(first, ({ end }) => call.path.endsWith(end))?.act()
    const response = takeFirst(instead, ({ end }) => call.path.endsWith(end))?.response ?? (await fetch(url, init))
    if (isCut || takeFirst(losses, (end) => call.path.endsWith(end)) !== undefined) {
      await response.arrayBuffer()
      throw new TypeError('the answer was lost')
    }
    answered.push(call)
    tell()
    return response
  }

  return {
    fetch: through as typeof fetch,
    to: (end) => sent.filter(({ path }) => path.endsWith(end)),
    until: (end, times) => until(answered, end, times),
    untilSent: (end, times) => until(sent, end, times),
    cut: () => {
      isCut = true
    },
    mend: () => {
      isCut = false
    },
    loseAnswers: (end, times) => void losses.push(...Array.from({ length: times }, () => end)),
    before: (end, act) => void first.push({ end, act }),
    intercept: (end, responses) => void instead.push(...responses.map((response) => ({ end, response }))),
  }
}

const callOf = (url: string, { method = 'GET', body }: RequestInit): LineCall => ({
  method,
  path: new URL(url).pathname,
  body: body && JSON.parse(String(body)),
})

function takeFirst<One>(among: One[], isIt: (one: One) => boolean): One | undefined {
  const index = among.findIndex(isIt)
  return index < 0 ? undefined : among.splice(index, 1)[0]
}
