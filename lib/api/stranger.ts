import { Refusal } from '#lib/model/errors'
import { completeAnswer, requestIdOf } from './complete-answer'
import type { ApiAnswer, ApiRequest } from './exchange'
import { PAGE_HEADERS } from './page-headers'
import { problem } from './problem'

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Not from here · Switchboard</title>
<h1>Not from here</h1>
<p>Until people can sign in, the pages are shown only on the machine that Switchboard runs on.
The interface for agents is described at <a href="/docs">/docs</a>.</p>
`

/** What somebody gets who may not see the pages: 401, and nothing of them; a page for browsers, a problem for programs. */
export function stranger(request: ApiRequest): ApiAnswer {
  const requestId = requestIdOf(request)
  return completeAnswer(wantsPage(request) ? page() : refused(requestId), request, requestId)
}

/** What is not there. */
export function nowhere(request: ApiRequest): ApiAnswer {
  const requestId = requestIdOf(request)
  const refusal = new Refusal('not_found', { detail: 'There is nothing at this address' })
  return completeAnswer(problem(refusal, requestId), request, requestId)
}

const wantsPage = ({ headers }: ApiRequest): boolean => headers.accept?.includes('text/html') ?? false

const page = (): ApiAnswer => ({
  status: 401,
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'www-authenticate': 'Bearer realm="switchboard"',
    ...PAGE_HEADERS,
  },
  body: PAGE,
})

const refused = (requestId: string): ApiAnswer =>
  problem(
    new Refusal('unauthenticated', { detail: 'The pages are shown only on the machine that Switchboard runs on' }),
    requestId,
  )
