import { Refusal } from '#lib/model/errors'
import { observe } from '#lib/ops/metrics'
import { BINDINGS } from './bind'
import type { Call, Streaming } from './call'
import { completeAnswer, requestIdOf } from './complete-answer'
import type { Core } from './core'
import type { ApiAnswer, ApiRequest } from './exchange'
import { ownOrigin } from './origin'
import { problem, refusalOf } from './problem'
import { readBody } from './read-body'
import { refuseUnstorable } from './read-json'
import { readQuery } from './read-query'
import { allowedMethods, type Named, type Route, routeOf } from './routes'
import { STREAM_HEADERS } from './stream'
import { check, type Part } from './validate'
import { refuseUnlessMay, whoCalls } from './who'
import { refuseWritesOfAnotherRevision } from './writable'

/** Answers one request of the JSON API; never throws. What is refused or goes wrong comes back as problem+json (api.md, Errors). */
export async function dispatch(core: Core, request: ApiRequest): Promise<ApiAnswer> {
  const startedAt = performance.now()
  const requestId = requestIdOf(request)
  const observed = { route: 'unmatched' }
  const answer = await answered(core, request, observed).catch((error) =>
    problem(refusalOf(error, requestId), requestId),
  )
  const labels = { route: observed.route, method: labelOf(request.method), status: String(answer.status) }
  observe('switchboard_http_request_seconds', labels, (performance.now() - startedAt) / 1000)
  return completeAnswer(answer, request, requestId)
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

// A caller may send any word as its method; a label may not be any word.
const labelOf = (method: string): string => (METHODS.has(method) ? method : 'OTHER')

async function answered(core: Core, request: ApiRequest, observed: { route: string }): Promise<ApiAnswer> {
  const route = routeOf(request.path)
  if (!route) throw new Refusal('not_found', { detail: 'There is nothing at this address' })
  observed.route = route.template
  if (request.method === 'OPTIONS') return { status: 204, headers: { allow: allowedMethods(route) }, body: '' }
  const named = route.operations.get(request.method === 'HEAD' ? 'GET' : request.method)
  if (!named) {
    const allow = allowedMethods(route)
    throw new Refusal('method_not_allowed', { detail: `Here only ${allow}`, allow })
  }
  const done = await carriedOut(core, request, { route, named })
  if ('stream' in done) return { status: done.status, headers: STREAM_HEADERS, body: '', stream: done.stream }
  const { status, body } = done
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

interface Matched {
  route: Route
  named: Named
}

type Done = { status: number; body: unknown } | Streaming

async function carriedOut(core: Core, request: ApiRequest, { route, named }: Matched): Promise<Done> {
  const { name, operation } = named
  const identify = async () => {
    const caller = await whoCalls(core, request)
    refuseUnlessMay(caller, operation)
    return caller
  }
  const caller = operation.scopes === 'open' ? null : await identify()
  // Browsers send cookies along whoever's page asks; a token is sent by its owner alone.
  if (operation.method !== 'GET' && caller?.type !== 'endpoint') ownOrigin(core.site, request)
  if (operation.writes) await refuseWritesOfAnotherRevision(core.database)
  const input = await readInput(request, { route, named })
  const call = {
    core,
    caller,
    ...input,
    get signal() {
      return request.signal
    },
    headers: request.headers,
    identify,
    stillMay: async () => void (await identify()),
  }
  // The row has just checked who calls and what it brings, for this very binding.
  return (BINDINGS[name] as (call: Call<never>) => Promise<Done>)(call as Call<never>)
}

type Input = Record<Part, unknown>

async function readInput(request: ApiRequest, { route, named }: Matched): Promise<Input> {
  const { operation } = named
  refuseUnstorable(route.params)
  const { fields, twice } = readQuery(request.query, operation.query)
  const body = await readBody(request, operation)
  const checked = {
    params: check('params', operation.params, route.params),
    query: twice.length > 0 ? { errors: twice } : check('query', operation.query, fields),
    body: check('body', operation.body, body === undefined ? {} : body),
  }
  const errors = Object.values(checked).flatMap((part) => ('errors' in part ? part.errors : []))
  if (errors.length > 0) throw new Refusal('validation_failed', { detail: summary(errors), errors })
  return Object.fromEntries(
    Object.entries(checked).map(([part, result]) => [part, 'value' in result && result.value]),
  ) as Input
}

function summary(errors: { pointer: string; message: string }[]): string {
  const [first] = errors
  const rest = errors.length > 1 ? `, and ${errors.length - 1} more` : ''
  return `${first?.pointer || 'the body'} ${first?.message}${rest}`
}
