import { SESSION_COOKIE } from '#lib/auth/session'
import { ERRORS, type ErrorCode } from '#lib/model/errors'
import type { Operation } from '#lib/wire/operation'
import { OPERATIONS } from '#lib/wire/operations'
import { version } from '../../package.json'
import { components, fieldsOf, type JsonSchema, refTo } from './openapi-schemas'

// Refusals that any operation can give, and those that come with what it takes.
const ALWAYS = ['invalid_request', 'validation_failed', 'internal', 'unavailable'] as const
const WITH_CALLER = ['unauthenticated', 'forbidden'] as const
const WITH_BODY = ['payload_too_large', 'unsupported_media_type'] as const

/** Every refusal an operation can give. */
export const refusalsOf = ({ scopes, params, body, refuses = [] }: Operation): ErrorCode[] => [
  ...new Set<ErrorCode>([
    ...ALWAYS,
    ...(scopes === 'open' ? [] : WITH_CALLER),
    ...(body ? WITH_BODY : []),
    ...(params ? (['not_found'] as const) : []),
    ...refuses,
  ]),
]

/** An OpenAPI document; every part is plain JSON. */
export interface OpenApi {
  openapi: string
  paths: Record<string, Record<string, unknown>>
  [part: string]: unknown
}

let made: OpenApi | undefined

/** The JSON API as OpenAPI 3.1, made from the same rows and schemas that answer and check the requests. */
export function openapi(): OpenApi {
  made ??= {
    openapi: '3.1.0',
    info: {
      title: 'Switchboard',
      version,
      description: 'A durable todo queue for AI agents. Refusals are application/problem+json; test their `code`.',
    },
    servers: [{ url: '/' }],
    paths: pathsOf(Object.entries(OPERATIONS)),
    components: {
      schemas: components(),
      securitySchemes: {
        endpoint: { type: 'http', scheme: 'bearer', description: 'The token of an endpoint, `sbk_…`' },
        session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: 'The session of a person' },
      },
      headers: { 'X-Request-Id': { schema: { type: 'string' }, description: 'As sent, when well formed; else made' } },
    },
  }
  return made
}

function pathsOf(operations: [string, Operation][]): OpenApi['paths'] {
  const paths: OpenApi['paths'] = {}
  for (const [name, operation] of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: described(name, operation) }
  }
  return paths
}

function described(name: string, operation: Operation): JsonSchema {
  const { summary, params, query, body, role } = operation
  const parameters = [...parametersOf('path', params), ...parametersOf('query', query)]
  return {
    operationId: name,
    summary,
    ...securityOf(operation),
    ...(role ? { 'x-role': role } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: !body.safeParse({}).success, content: jsonOf(refTo(body)) } } : {}),
    responses: { ...answersOf(operation), ...problemsOf(operation) },
  }
}

function securityOf({ scopes, role }: Operation): JsonSchema {
  if (scopes === 'open') return { security: [] }
  const security = [...(scopes.length > 0 ? [{ endpoint: [] }] : []), ...(role ? [{ session: [] }] : [])]
  return { security, ...(scopes.length > 0 ? { 'x-scopes': scopes } : {}) }
}

const parametersOf = (place: 'path' | 'query', schema: Operation['params']): JsonSchema[] =>
  fieldsOf(schema).map(({ name, required, schema: { description, ...rest } }) => ({
    name,
    in: place,
    required: place === 'path' || required,
    ...(description ? { description } : {}),
    schema: rest,
  }))

const jsonOf = (schema: JsonSchema, type = 'application/json') => ({ [type]: { schema } })

const headers = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }

const answersOf = ({ answers, media }: Operation): JsonSchema =>
  Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => [
      status,
      { description: DONE[status], headers, content: jsonOf(refTo(schema), media) },
    ]),
  )

const DONE: Record<string, string> = { 200: 'Done, or done before', 201: 'Made', 202: 'Begun' }

function problemsOf(operation: Operation): JsonSchema {
  const codes = refusalsOf(operation)
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort()
  const problem = jsonOf({ $ref: '#/components/schemas/Problem' }, 'application/problem+json')
  const described = (status: number) =>
    codes.filter((code) => ERRORS[code].status === status).map((code) => `\`${code}\``)
  return Object.fromEntries(
    statuses.map((status) => [status, { description: described(status).join(', '), headers, content: problem }]),
  )
}
