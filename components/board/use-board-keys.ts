import { useKeys } from '../shell/use-keys'

const CARD = '[data-card]'
const COLUMN = '[data-column]'

/** `j` and `k` move the focus along a column's cards, `l` and `h` from column to column. `Enter` is the card's own. */
export function useBoardKeys(): void {
  useKeys({ j: () => step(1), k: () => step(-1), l: () => across(1), h: () => across(-1) })
}

const columns = (): Element[] => [...document.querySelectorAll(COLUMN)].filter((column) => column.querySelector(CARD))

const here = (): Element | null => document.activeElement?.closest(COLUMN) ?? null

// Beyond the cards in view a few more are drawn, and the next is always among them.
function cardsOf(column: Element | null): HTMLElement[] {
  const indexed = [...(column?.querySelectorAll('[data-index]') ?? [])]
  indexed.sort((a, b) => Number(a.getAttribute('data-index')) - Number(b.getAttribute('data-index')))
  return indexed.flatMap((item) => item.querySelector<HTMLElement>(CARD) ?? [])
}

function step(by: 1 | -1): void {
  const column = here()
  const cards = cardsOf(column ?? columns()[0] ?? null)
  const item = document.activeElement?.closest('[data-index]')
  const at = cards.findIndex((card) => item?.contains(card))
  cards[at === -1 ? 0 : Math.max(0, Math.min(at + by, cards.length - 1))]?.focus()
}

function across(by: 1 | -1): void {
  const all = columns()
  const at = all.indexOf(here() as Element)
  const column = all[at === -1 ? 0 : Math.max(0, Math.min(at + by, all.length - 1))]
  const [first] = cardsOf(column ?? null).filter((card) => isInView(card, column as Element))
  first?.focus()
}

const isInView = (card: HTMLElement, column: Element): boolean =>
  card.getBoundingClientRect().top >= column.getBoundingClientRect().top
