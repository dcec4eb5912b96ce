const ELSEWHERE = 'http://local.invalid'

/**
 * A path and query of our own pages as it was given, or null for everything that a browser could take for another site,
 * and for addresses that are no pages: what `next` may hold after signing in.
 */
export function localPath(text: unknown): string | null {
  if (typeof text !== 'string' || !/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text)) return null
  const { origin, pathname } = new URL(text, ELSEWHERE)
  if (origin !== ELSEWHERE || /^\/(?:api|_next)(?:\/|$)/.test(pathname) || pathname.startsWith('//')) return null
  return text
}
