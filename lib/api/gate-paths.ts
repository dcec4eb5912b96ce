import { localPath } from '#lib/wire/local-path'

/** Where people begin. */
export const HOME = '/board'

/** Where strangers are sent. */
export const SIGN_IN = '/sign-in'

/** Where a stranger signs in to come back to `next`, which counts only as a path of our own. */
export function signInPath(next: unknown): string {
  const path = localPath(next)
  return path === null || path === '/' ? SIGN_IN : `${SIGN_IN}?next=${encodeURIComponent(path)}`
}

const WELCOME = /^\/welcome\/[A-Za-z0-9_-]{1,200}$/

/** Whether a page is for all: signing in, and the welcome of somebody invited. */
export const isForAll = (path: string): boolean => path === SIGN_IN || WELCOME.test(path)

/** Whether a path leads to a file that every page needs; it names no other place, however it is spelled. */
export function isStatic(path: string): boolean {
  if (path === '/icon.svg') return true
  if (!path.startsWith('/_next/static/')) return false
  const plain = path.replaceAll(/%(?:5b|5d|28|29|40|7e|20)/gi, '_')
  return !/[%\\?#]|\/\/|\/\.{1,2}(?:\/|$)/.test(plain)
}
