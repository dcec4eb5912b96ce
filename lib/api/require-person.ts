import { headers } from 'next/headers'
import { redirect } from 'next/navigation'
import { cache } from 'react'
import { findSession } from '#lib/auth/session'
import type { PersonCaller } from '#lib/wire/caller'
import { processCore } from './core'
import { signInPath } from './gate-paths'
import { visitorOf } from './page-visit'
import { isSecure } from './site'

/**
 * Who visits a page; whoever has not signed in is sent to do so, and comes back to `next`. Every page of people and their
 * layout call it first: the web process's gate stands before them, but not under plain `next start`, and a browser may
 * ask for a page without its layout.
 */
export async function requirePerson(next?: string): Promise<PersonCaller> {
  return (await visitor()) ?? redirect(signInPath(next))
}

/** Who visits a page that is for all, or null; one look for each request. */
export const visitor = cache(async (): Promise<PersonCaller | null> => {
  const sent = await headers()
  const letIn = visitorOf(sent)
  if (letIn) return letIn
  const { database, site } = await processCore(process.env.DATABASE_URL ?? '')
  const session = await findSession(database, { header: sent.get('cookie') ?? undefined, isSecure: isSecure(site) })
  return session?.person ?? null
})
