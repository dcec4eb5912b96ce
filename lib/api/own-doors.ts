import { createHash, timingSafeEqual } from 'node:crypto'
import { Refusal } from '#lib/model/errors'
import { exposition, expositionType } from '#lib/ops/metrics'
import { completeAnswer, requestIdOf } from './complete-answer'
import type { Core } from './core'
import { docsPage } from './docs-page'
import type { ApiAnswer, ApiRequest } from './exchange'
import { documentPolicy, makeNonce, PAGE_HEADERS } from './page-headers'
import { problem, refusalOf } from './problem'
import { readiness } from './ready'
import { bearerOf } from './who'

/** What the doors beside API and pages need. */
export interface Doors {
  core: Core
  /** What a reader of the metrics must bring; null: nothing, but it must be on this machine. */
  metricsToken: string | null
}

type Door = (doors: Doors, request: ApiRequest) => ApiAnswer | Promise<ApiAnswer>

const DOORS: ReadonlyMap<string, Door> = new Map<string, Door>([
  ['/healthz', () => json(200, { status: 'ok' })],
  ['/readyz', async ({ core }) => json(...(await readiness(core)))],
  ['/metrics', metrics],
  ['/docs', docs],
])

/** The web process's own addresses: liveness, readiness, metrics, the reference. */
export const isOwnDoor = (path: string): boolean => DOORS.has(path)

/** Answers a request to one of them; never throws. */
export async function answerOwnDoor(doors: Doors, request: ApiRequest): Promise<ApiAnswer> {
  const requestId = requestIdOf(request)
  const answer = await opened(doors, request).catch((error) => problem(refusalOf(error, requestId), requestId))
  return completeAnswer(answer, request, requestId)
}

async function opened(doors: Doors, request: ApiRequest): Promise<ApiAnswer> {
  const door = DOORS.get(request.path)
  if (!door) throw new Refusal('not_found')
  if (request.method === 'GET' || request.method === 'HEAD') return door(doors, request)
  throw new Refusal('method_not_allowed', { detail: 'Here only GET, HEAD', allow: 'GET, HEAD' })
}

const json = (status: number, body: unknown): ApiAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

async function metrics({ metricsToken }: Doors, { headers, loopback }: ApiRequest): Promise<ApiAnswer> {
  if (metricsToken === null && !loopback) {
    throw new Refusal('forbidden', {
      detail: 'Without SWITCHBOARD_METRICS_TOKEN metrics are told only on this machine',
    })
  }
  if (metricsToken !== null && !isSame(bearerOf(headers.authorization) ?? '', metricsToken)) {
    throw new Refusal('unauthenticated', { detail: 'Send Authorization: Bearer and the metrics token' })
  }
  return { status: 200, headers: { 'content-type': expositionType }, body: await exposition() }
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [given, wanted].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(one as Buffer, other as Buffer)
}

function docs(): ApiAnswer {
  const nonce = makeNonce()
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': documentPolicy(nonce),
    ...PAGE_HEADERS,
  }
  return { status: 200, headers, body: docsPage(nonce) }
}
