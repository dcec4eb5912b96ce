/** A page and the key that leads there after `g`. */
export interface PageKey {
  key: string
  href: string
  label: string
}
