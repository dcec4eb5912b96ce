import * as answers from './answers'
import * as bodies from './bodies'
import type { Operation } from './operation'
import * as queries from './queries'

/** Questions to people, and their answers. */
export const QUESTION_OPERATIONS = {
  listInterrupts: {
    method: 'GET',
    path: '/api/v1/interrupts',
    summary: 'Questions, soonest deadline first',
    scopes: ['read'],
    role: 'viewer',
    query: queries.interruptsQuery,
    answers: { 200: answers.interruptsAnswer },
    writes: false,
  },
  getInterrupt: {
    method: 'GET',
    path: '/api/v1/interrupts/{id}',
    summary: 'One question; waits until it is no longer open, if told to',
    scopes: ['read', 'work'],
    role: 'viewer',
    params: queries.idParams,
    query: queries.waitQuery,
    answers: { 200: answers.interruptDetailAnswer },
    writes: false,
  },
  answerInterrupt: {
    method: 'POST',
    path: '/api/v1/interrupts/{id}/answer',
    summary: 'Answer a question; the first answer wins',
    scopes: ['answer'],
    role: 'responder',
    params: queries.idParams,
    body: bodies.answerSchema,
    answers: { 200: answers.interruptAnswer },
    refuses: ['already_answered', 'interrupt_closed'],
    writes: true,
  },
} as const satisfies Record<string, Operation>
