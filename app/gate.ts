import { headers } from 'next/headers'
import { unauthorized } from 'next/navigation'
import { isLetIn } from '#lib/api/page-visit'

/** Ends the rendering of a page with 401 unless the web process let the visitor in; every page calls it first. */
export async function gate(): Promise<void> {
  if (!isLetIn(await headers())) unauthorized()
}
