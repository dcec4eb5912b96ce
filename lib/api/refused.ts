import { Refusal } from '#lib/model/errors'
import { completeAnswer, requestIdOf } from './complete-answer'
import type { ApiAnswer, ApiRequest } from './exchange'
import { problem } from './problem'

/** What is not there. */
export const NOWHERE = new Refusal('not_found', { detail: 'There is nothing at this address' })

/** The answer to a request that is refused whatever it asks for. */
export function refused(request: ApiRequest, refusal: Refusal): ApiAnswer {
  const requestId = requestIdOf(request)
  return completeAnswer(problem(refusal, requestId), request, requestId)
}
