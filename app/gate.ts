import { requirePerson } from '#lib/api/require-person'

/** Ends the rendering of a page unless somebody who has signed in visits it; every page calls it first. */
export async function gate(): Promise<void> {
  await requirePerson()
}
