import type { Interrupt } from '#lib/wire/interrupt'

const DONE = {
  accept: { input: 'Answered', auth: 'Signed in', approval: 'Approved' },
  decline: { input: 'Declined', auth: 'Declined', approval: 'Denied' },
} as const

/** What has been done to a question, in a word or two. */
export const doneText = (kind: Interrupt['kind'], action: 'accept' | 'decline'): string => DONE[action][kind]
