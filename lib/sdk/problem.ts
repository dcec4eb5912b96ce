import { ERRORS, type ErrorCode, Refusal, type RefusalFacts } from '#lib/model/errors'

/** A refusal of ours for a server that cannot be reached, or broke off; `cause` is what fetch threw. */
export function unreachable(url: string, cause: unknown): Refusal {
  const detail = `${url || 'The server'} cannot be reached: ${reasonOf(cause)}`
  return Object.assign(new Refusal('unavailable', { detail }), { cause })
}

// What fetch throws says nothing; why stands in its cause.
function reasonOf(error: unknown): string {
  const { cause, message, name } = error as {
    cause?: { code?: string; message?: string }
    message?: string
    name?: string
  }
  return cause?.code ?? cause?.message ?? message ?? name ?? String(error)
}

/** The same refusal that the server threw, from its problem+json; another sender's answer is judged by its status. */
export async function refusalOf(response: Response): Promise<Refusal> {
  const problem = await readProblem(response)
  const { type, title, status, code, ...facts } = problem ?? {}
  const given = retryAfterSeconds(response)
  if (given !== undefined) facts.retry_after_seconds = given
  if (typeof code === 'string' && code in ERRORS) return new Refusal(code as ErrorCode, facts)
  return new Refusal(codeOf(response.status), {
    detail: `The server answered with status ${response.status}`,
    ...facts,
  })
}

async function readProblem(response: Response): Promise<(RefusalFacts & Record<string, unknown>) | null> {
  try {
    const body: unknown = JSON.parse(await response.text())
    return body !== null && typeof body === 'object' ? { ...body } : null
  } catch {
    return null
  }
}

function codeOf(status: number): ErrorCode {
  // A proxy in front speaks for a server that is away; a redirect means that the address is another.
  if (status >= 502 && status <= 504) return 'unavailable'
  if (status >= 500) return 'internal'
  const known = Object.entries(ERRORS).find(([, error]) => error.status === status && status !== 409)
  return (known?.[0] as ErrorCode | undefined) ?? 'invalid_request'
}

function retryAfterSeconds(response: Response): number | undefined {
  const text = response.headers.get('retry-after')
  if (!text) return undefined
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined
}
