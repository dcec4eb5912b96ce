/** What was wrong with what was sent; the fields by name, what belongs to none under an empty one. */
export type SignInErrors = Partial<Record<string, string>>

interface Problem {
  detail?: string
  errors?: { pointer: string; message: string }[]
}

const HEADERS = { 'content-type': 'application/json' }

async function sent(path: string, body: object): Promise<{ status: number; problem: Problem }> {
  const response = await fetch(path, { method: 'POST', headers: HEADERS, body: JSON.stringify(body) }).catch(() => null)
  if (!response) return { status: 0, problem: {} }
  if (response.ok) return { status: response.status, problem: {} }
  return { status: response.status, problem: (await response.json().catch(() => ({}))) as Problem }
}

const UNREACHABLE = 'Switchboard could not be reached. Try again in a moment.'

/** Signs in; null when it worked. Never tells whether the address is known. */
export async function signInWith(email: string, password: string): Promise<string | null> {
  const { status, problem } = await sent('/api/auth/sign-in/email', { email, password })
  switch (status) {
    case 200:
      return null
    case 401:
    case 422:
      return 'The e-mail address or the password is wrong.'
    case 403:
      return `${problem.detail ?? 'This address of Switchboard is not the one it is meant to be reached at.'}`
    case 429:
      return `${problem.detail ?? 'Too many tries from here: wait a moment'}.`
    default:
      return UNREACHABLE
  }
}

/** Who the invited person is to be. */
export interface Newcomer {
  name: string
  email: string
  password: string
}

/** Makes the invited person; null when it worked. */
export async function acceptInvitation(token: string, person: Newcomer): Promise<SignInErrors | null> {
  const { status, problem } = await sent('/api/v1/invitations/accept', { token, ...person })
  if (status === 201) return null
  if (status === 422 && problem.errors?.length) {
    return Object.fromEntries(
      problem.errors.map(({ pointer, message }) => [
        pointer.slice(1),
        `${message.charAt(0).toUpperCase()}${message.slice(1)}`,
      ]),
    )
  }
  return { '': status === 0 || status >= 500 ? UNREACHABLE : `${problem.detail ?? 'That was refused'}.` }
}
