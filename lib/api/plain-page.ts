import type { Refusal } from '#lib/model/errors'
import type { ApiAnswer } from './exchange'
import { html } from './html'
import { documentPolicy, makeNonce, PAGE_HEADERS } from './page-headers'

const STYLE = `:root { color-scheme: light dark; font: 15px/1.55 system-ui, sans-serif }
body { max-width: 34rem; margin: 18vh auto 0; padding: 0 1.5rem } h1 { font-size: 20px; font-weight: 600 }`

/** A refusal as a page without scripts, for a browser that wanted a page and gets none. */
export function plainPage({ status, title, message }: Refusal): ApiAnswer {
  const nonce = makeNonce()
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': documentPolicy(nonce),
    ...PAGE_HEADERS,
  }
  const { text } = html`<title>${title} · Switchboard</title><h1>${title}</h1><p>${message}.</p>
<p>The queue goes on without this page. <a href="">Try again</a></p>`
  const head = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">`
  return { status, headers, body: `${head}<style nonce="${nonce}">${STYLE}</style>${text}` }
}
