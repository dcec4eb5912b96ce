/** A piece of HTML whose texts have been escaped. */
export class Html {
  constructor(readonly text: string) {}
}

type Piece = Html | string | number | Piece[]

/** A template that escapes every text put into it; pieces of HTML and lists of them go in as they are. */
export const html = (strings: TemplateStringsArray, ...pieces: Piece[]): Html =>
  new Html(strings.reduce((whole, part, at) => `${whole}${rendered(pieces[at - 1] ?? '')}${part}`))

function rendered(piece: Piece): string {
  if (piece instanceof Html) return piece.text
  if (Array.isArray(piece)) return piece.map(rendered).join('')
  return String(piece).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character)
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
