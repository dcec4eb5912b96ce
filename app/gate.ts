import { requirePerson } from '#lib/api/require-person'

type Search = Record<string, string | string[] | undefined>

/** What Next tells a page of the query it was asked for with. */
export interface Visited {
  searchParams: Promise<Search>
}

/**
 * Ends the rendering of a page unless somebody who has signed in visits it; whoever has not comes back to just this
 * address after signing in. Every page calls it first.
 */
export async function gate(path: string, search: Search = {}): Promise<void> {
  await requirePerson(`${path}${queryOf(search)}`)
}

function queryOf(search: Search): string {
  const pairs = Object.entries(search).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  )
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}
