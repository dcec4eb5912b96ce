import { ERRORS, type ErrorCode } from '#lib/model/errors'
import type { Operation } from '#lib/wire/operation'
import { OPERATIONS } from '#lib/wire/operations'
import { DOCS_STYLE } from './docs-style'
import { type Html, html } from './html'
import { refusalsOf } from './openapi'
import { components, type Field, fieldsOf, type JsonSchema, nameOf } from './openapi-schemas'

let body: string | undefined

/** The reference of the JSON API for people: every operation, refusal and shape, made from the rows that answer. Its one style sheet carries the nonce. */
export function docsPage(nonce: string): string {
  body ??= page().text
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>HTTP interface · Switchboard</title><style nonce="${nonce}">${DOCS_STYLE}</style></head>${body}</html>`
}

const page = (): Html => {
  const operations = Object.entries<Operation>(OPERATIONS)
  return html`<body><nav aria-label="Contents"><h2>Operations</h2><ul>${operations.map(entry)}</ul>
<h2>More</h2><ul><li><a href="#refusals">Refusals</a></li><li><a href="#shapes">Shapes</a></li></ul></nav>
<main><h1>HTTP interface</h1>
<p>JSON in, JSON out. Endpoints send <code>Authorization: Bearer sbk_…</code>; people have a session. Names are snake_case, times ISO 8601 in UTC,
durations whole seconds, ids UUIDs. Fields that are not listed are refused. The same as a document for programs:
<a href="/api/v1/openapi.json">openapi.json</a>.</p>
${operations.map(section)}
<h2 id="refusals">Refusals</h2>
<p>A refusal is <code>application/problem+json</code> with <code>type</code>, <code>title</code>, <code>status</code>, <code>code</code>,
<code>detail</code> and <code>request_id</code>; one about a todo also has its <code>state</code>, one about fields <code>errors</code>
with a pointer each. Programs should test the code. What is refused changes nothing.</p>
<div class="wide"><table><thead><tr><th>Code</th><th>Status</th><th>Title</th></tr></thead><tbody>${refusals()}</tbody></table></div>
<h2 id="shapes">Shapes</h2>${Object.entries(components())
    .filter(([, schema]) => schema.type === 'object' || eitherOf(schema))
    .map(shape)}
</main></body>`
}

const entry = ([name, { method, path }]: [string, Operation]): Html =>
  html`<li><a href="#${name}"><b>${method}</b> ${path.replace('/api/v1', '')}</a></li>`

function section([name, operation]: [string, Operation]): Html {
  const { method, path, summary, params, query, body: taken } = operation
  const takes = [
    table('In the path', fieldsOf(params)),
    table('Query', fieldsOf(query)),
    table('Body', fieldsOf(taken)),
  ]
  return html`<section><h3 id="${name}"><b class="method">${method}</b> <code>${path}</code></h3><p>${summary}. ${who(operation)}</p>
${takes}
<p class="ends">${Object.entries(operation.answers).map(([status, schema]) => html`<span>${status} ${link(nameOf(schema) ?? 'JSON')}</span> `)}
${byStatus(refusalsOf(operation)).map((code) => html`<a class="code" href="#${code}">${ERRORS[code].status} ${code}</a> `)}</p></section>`
}

const byStatus = (codes: ErrorCode[]): ErrorCode[] => [...codes].sort((a, b) => ERRORS[a].status - ERRORS[b].status)

function who({ scopes, role }: Operation): Html {
  if (scopes === 'open') return html`<span class="who">Open to all</span>`
  if (scopes.length === 0) return html`<span class="who">People from <code>${role ?? ''}</code> on</span>`
  const people = role ? html`, people from <code>${role}</code> on` : html``
  return html`<span class="who">Scope ${scopes.map((scope, at) => html`${at > 0 ? ' or ' : ''}<code>${scope}</code>`)}${people}</span>`
}

const refusals = (): Html[] =>
  Object.entries(ERRORS).map(
    ([code, { status, title }]) =>
      html`<tr id="${code}"><td><code>${code}</code></td><td>${status}</td><td>${title}</td></tr>`,
  )

function shape([name, schema]: [string, JsonSchema]): Html {
  const required = (schema.required ?? []) as string[]
  const fields = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
  return html`<section><h3 id="shape-${name}">${name}</h3>
${eitherOf(schema) ? html`<p>${typeOf(schema)}</p>` : ''}${table(
  'Fields',
  fields.map(([field, inner]) => ({ name: field, required: required.includes(field), schema: inner })),
)}</section>`
}

function table(title: string, fields: Field[]): Html {
  if (fields.length === 0) return html``
  const rows = fields.map(
    ({ name, required, schema }) => html`<tr><td><code>${name}</code>${required ? '' : html` <i>optional</i>`}</td>
<td>${typeOf(schema)}</td><td>${String(schema.description ?? '')}</td></tr>`,
  )
  return html`<div class="wide"><table><thead><tr><th>${title}</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${rows}</tbody></table></div>`
}

const link = (name: string): Html => (name in components() ? html`<a href="#shape-${name}">${name}</a>` : html`${name}`)

const eitherOf = (schema: JsonSchema) => (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined

/** A schema's type in a few words. */
function typeOf(schema: JsonSchema): Html {
  if (typeof schema.$ref === 'string') return link(schema.$ref.split('/').at(-1) ?? '')
  if (Array.isArray(schema.enum))
    return html`${schema.enum.map((value, at) => html`${at > 0 ? ' | ' : ''}<code>${String(value)}</code>`)}`
  if (schema.const !== undefined) return html`<code>${String(schema.const)}</code>`
  const either = eitherOf(schema)
  if (either) return html`${either.map((one, at) => html`${at > 0 ? ' or ' : ''}${typeOf(one)}`)}`
  if (schema.type === 'array')
    return html`list of ${typeOf((schema.items ?? {}) as JsonSchema)}${range(schema, 'Items', '')}`
  if (schema.type === undefined) return html`any JSON`
  const types = [schema.type].flat().map(String).join(' or ')
  return html`${schema.format ? `${types}, ${String(schema.format)}` : types}${range(schema, 'Length', ' characters')}${bounds(schema)}`
}

function range(schema: JsonSchema, what: 'Items' | 'Length', unit: string): string {
  const [least, most] = [schema[`min${what}`], schema[`max${what}`]]
  if (most === undefined) return ''
  return `, ${String(least ?? 0)} to ${String(most)}${unit}`
}

function bounds({ minimum, maximum }: JsonSchema): string {
  const isSaid = (bound: unknown) => typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER
  if (!isSaid(minimum) && !isSaid(maximum)) return ''
  return isSaid(maximum) ? `, ${String(minimum ?? '…')} to ${String(maximum)}` : `, from ${String(minimum)}`
}
