import canonicalize from 'canonicalize'

/**
 * The hash by which an approval and the effect it covers name the same arguments: hex SHA-256 of their RFC 8785 JSON.
 * Equal for values that mean the same JSON, whatever the order of keys; nothing at all counts as null. Throws what JSON
 * cannot say, such as a circle, NaN or half of a surrogate pair.
 */
export async function argumentsHash(given: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalize(given ?? null))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
