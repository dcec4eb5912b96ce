import { Refusal } from '#lib/model/errors'
import type { Effect } from '#lib/wire/effect'
import type { Park } from './ask'
import type { Client } from './client'
import { Fatal } from './fatal'
import type { Lease } from './lease'
import { plainText } from './plain-text'
import type { Prompt } from './prompt'

/** What asking whether an effect happened needs of the attempt. */
export interface Doubting {
  client: Client
  lease: Lease
  park: Park
}

const MOST_TITLE = 200
const MOST_DESCRIPTION = 10_000

/**
 * Parks until a person has said whether the effect happened; resolves once one has, or the worker that began it, since it is
 * settled then. Declined, nobody ever will: rejects with `effect_uncertain`, which fails the todo for good.
 */
export async function askWhether({ client, lease, park }: Doubting, key: string, refusal: Refusal): Promise<void> {
  const { effects } = await client.getTodo({ id: lease.todo.id }, { signal: lease.signal }).catch(lease.loseIfLost)
  const effect = effects.find((one) => one.key === key)
  const answer = await park(whether(key, effect)).catch(unlessKnown)
  if (answer === null || answer.action === 'accept') return
  throw new Fatal(`Nobody could say whether ${key} happened`, { code: 'effect_uncertain', cause: refusal })
}

/** Null where the worker that began the effect has said meanwhile how it went: there is nothing left to ask. */
function unlessKnown(error: unknown): null {
  const isAboutEffect = error instanceof Refusal && error.facts.errors?.[0]?.pointer === '/effect_key'
  if (isAboutEffect && error.code === 'validation_failed') return null
  throw error
}

// Its words name the attempt: begun again and in doubt again, it is another question.
function whether(key: string, effect: Effect | undefined): Prompt {
  const begun = effect ? `Attempt ${effect.lease_epoch} began it at ${effect.begun_at}` : 'An earlier attempt began it'
  const what = effect?.description ? [plainText(effect.description, MOST_DESCRIPTION)] : []
  return {
    title: plainText(`Did it happen: ${key}?`, MOST_TITLE),
    message: [
      ...what,
      `${begun} and ended before it could say how it went. It must not be done twice, so look whether it was done before you answer. Decline if nobody can tell: the todo fails then, and nothing is done again.`,
    ].join('\n\n'),
    schema: {
      type: 'object',
      properties: { happened: { type: 'boolean', title: 'It happened' } },
      required: ['happened'],
    },
    risk: 'high',
    effect_key: key,
  }
}
