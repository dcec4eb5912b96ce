import { ERRORS, type ErrorCode } from '#lib/model/errors'
import type { Operation } from '#lib/wire/operation'
import { OPERATIONS } from '#lib/wire/operations'
import { fields } from './docs-fields'
import { code, codes, page, table } from './docs-text'

const ALL = Object.entries<Operation>(OPERATIONS)

/** Every operation of the HTTP interface: who may, what goes in, what it can refuse. */
export const operationsPage = (): string =>
  page('Operations', '`lib/wire/operations.ts`', [
    'The whole HTTP interface. A request goes in as JSON and comes back as JSON; a refusal is `application/problem+json` with one of the [codes](errors.md). The server describes the same as OpenAPI 3.1 at `/api/v1/openapi.json` and for people at `/docs`.',
    table(['Operation', 'Request', 'What it does'], ALL.map(summary)),
    ...ALL.map(section),
  ])

const summary = ([name, { method, path, summary }]: [string, Operation]): string[] => [
  `[${name}](#${name.toLowerCase()})`,
  code(`${method} ${path}`),
  summary,
]

function section([name, operation]: [string, Operation]): string {
  const { method, path, summary, query, body, refuses = [] } = operation
  return [
    `## ${name}`,
    `${code(`${method} ${path}`)}. ${summary}.`,
    who(operation),
    query && `In the query:\n\n${fields(query, 'output')}`,
    body && `In the body:\n\n${fields(body, 'input')}`,
    `Answers with ${codes(Object.keys(operation.answers))}${refuses.length > 0 ? `; may refuse with ${codes(refuses)}` : ''}.`,
  ]
    .filter(Boolean)
    .join('\n\n')
}

function who({ scopes, role }: Operation): string {
  if (scopes === 'open') return 'Anybody may, without a token.'
  if (scopes.length === 0) return `People need the role ${code(role ?? '')} or above; endpoints may not.`
  const people = role ? ` People need the role ${code(role)} or above.` : ''
  return `Endpoints need the scope ${scopes.map(code).join(' or ')}.${people}`
}

/** Every refusal: its code, status, meaning, and which operations name it. */
export const errorsPage = (): string =>
  page('Errors', '`lib/model/errors.ts`', [
    'A refusal is `application/problem+json` (RFC 9457) with `type`, `title`, `status`, `code`, `detail` and `request_id`; a 422 also has `errors`, each with a `pointer` and a `message`; a 409 about a todo carries its current `state`. Test for the code: titles and details are for people.',
    table(['Code', 'Status', 'Title', 'Named by'], (Object.keys(ERRORS) as ErrorCode[]).map(refusal)),
    'Where the last column is empty, any operation may refuse so, or none of this version does.',
  ])

function refusal(name: ErrorCode): string[] {
  const by = ALL.filter(([, { refuses }]) => refuses?.includes(name)).map(([operation]) => operation)
  return [code(name), String(ERRORS[name].status), ERRORS[name].title, codes(by)]
}
