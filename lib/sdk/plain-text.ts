/** A text as PostgreSQL can keep it: without NUL and half characters, and not longer than this. */
export const plainText = (text: string, most: number): string => text.replaceAll('\0', '').slice(0, most).toWellFormed()
