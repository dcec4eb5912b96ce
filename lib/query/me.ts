import { mutationOptions, queryOptions } from '@tanstack/react-query'
import { Refusal } from '#lib/model/errors'
import { api } from './client'
import { KEYS } from './keys'

/** Who is signed in, and what they may. */
export const me = queryOptions({
  queryKey: KEYS.me,
  queryFn: ({ signal }) => api.getMe({}, { signal }),
})

/** Ends the session; the page that did it must then leave for the sign-in, and with it what it knows. */
export const signOut = mutationOptions({
  mutationKey: ['sign-out'],
  mutationFn: async () => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch('/api/auth/sign-out', { method: 'POST', headers, body: '{}' })
    if (!response.ok) throw new Refusal('unavailable', { detail: `Signing out was answered with ${response.status}` })
  },
  // Not cleared: whatever still shows something would ask for it again, and be refused.
  onSuccess: (_nothing, _given, _result, { client }) => client.cancelQueries(),
})
