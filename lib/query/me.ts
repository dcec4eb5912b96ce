import { mutationOptions, queryOptions } from '@tanstack/react-query'
import { Refusal } from '#lib/model/errors'
import { api } from './client'
import { KEYS } from './keys'

/** Who is signed in, and what they may. */
export const me = queryOptions({
  queryKey: KEYS.me,
  queryFn: ({ signal }) => api.getMe({}, { signal }),
})

/** Ends the session, here and at the server; the page that did it should then go to the sign-in. */
export const signOut = mutationOptions({
  mutationKey: ['sign-out'],
  mutationFn: async () => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch('/api/auth/sign-out', { method: 'POST', headers, body: '{}' })
    if (!response.ok) throw new Refusal('unavailable', { detail: `Signing out was answered with ${response.status}` })
  },
  onSuccess: (_nothing, _given, _result, { client }) => client.clear(),
})
