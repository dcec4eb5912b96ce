import { Refusal } from '#lib/model/errors'
import { completeAnswer, requestIdOf } from './complete-answer'
import type { ApiAnswer, ApiRequest } from './exchange'
import { problem } from './problem'

/** What is not there. */
export function nowhere(request: ApiRequest): ApiAnswer {
  const requestId = requestIdOf(request)
  const refusal = new Refusal('not_found', { detail: 'There is nothing at this address' })
  return completeAnswer(problem(refusal, requestId), request, requestId)
}
