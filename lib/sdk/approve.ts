import { argumentsHash } from '#lib/wire/arguments-hash'
import type { Approvable } from './earlier-answers'
import type { Json } from './json'
import { plainText } from './plain-text'
import type { Answer, Prompt } from './prompt'

/** What a person is to approve: this action with exactly these arguments. */
export interface Proposal extends Pick<Prompt, 'key' | 'message' | 'risk' | 'for'> {
  /** What is to be done, in a word or two. */
  action: string
  arguments?: Json
  /** What the person is asked; made from the action unless given. */
  title?: string
}

/** How an approval is waited for: parked with a checkpoint, unless the todo is to be held. */
export type ApproveOptions = { checkpoint?: Json; hold?: false } | { hold: true }

/**
 * Asks a person to approve exactly what is shown, and says who accepted or declined. Parked, like `park`, unless it is to be
 * held. What was said to other arguments never counts. An effect that needs it is given the answer as `approval`.
 */
export type Approve = (proposal: Proposal, options?: ApproveOptions) => Promise<Answer<null>>

const MOST_TITLE = 200

/** A proposal as it is asked, and by what an answer to it is known again. */
export async function approvalOf(proposal: Proposal): Promise<{ prompt: Prompt; asked: Approvable }> {
  const { action, arguments: given = null, title = plainText(`${action}?`, MOST_TITLE), ...rest } = proposal
  const prompt: Prompt = { ...rest, kind: 'approval', title, proposal: { action, arguments: given } }
  return { prompt, asked: { key: rest.key, title, action, hash: await argumentsHash(given) } }
}
