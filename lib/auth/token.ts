import { createHash, randomBytes } from 'node:crypto'

/** An endpoint's new token: `sbk_` and 32 random bytes, base64url. It is shown once; only its hash is kept. */
export const makeToken = (): string => `sbk_${randomBytes(32).toString('base64url')}`

/** What is stored of a token, and by which it is found: its SHA-256, in hex. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Whether a text can be a token at all; what is not needs no look-up. */
export const isToken = (text: string): boolean => /^sbk_[A-Za-z0-9_-]{43}$/.test(text)
