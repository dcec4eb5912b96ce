/** An agent's address that may be opened: https and without credentials in it; null for every other. */
export function httpsAddress(text: string | undefined): URL | null {
  if (!text || !URL.canParse(text)) return null
  const address = new URL(text)
  return address.protocol === 'https:' && !address.username && !address.password ? address : null
}
