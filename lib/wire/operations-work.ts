import * as answers from './answers'
import { askSchema } from './ask'
import * as bodies from './bodies'
import type { Operation } from './operation'
import { onTodo, TODO } from './operation-parts'
import * as queries from './queries'

const HOLDER = ['lease_lost', 'todo_terminal', 'invalid_state'] as const

const holder = {
  method: 'POST',
  scopes: ['work'],
  params: queries.idParams,
  writes: true,
} as const

/** What the holder of a lease does, or somebody in its place. */
export const WORK_OPERATIONS = {
  claim: {
    ...holder,
    params: undefined,
    path: '/api/v1/todos/claim',
    summary: 'Claim todos that are due, waiting for one if asked to',
    body: bodies.claimSchema,
    answers: { 200: answers.claimedAnswer },
  },
  claimTodo: {
    ...holder,
    path: `${TODO}/claim`,
    summary: 'Claim this todo',
    body: bodies.claimOneSchema,
    answers: { 200: answers.claimedOneAnswer },
    refuses: ['todo_terminal', 'invalid_state'],
  },
  heartbeat: {
    ...holder,
    path: `${TODO}/heartbeat`,
    summary: 'Keep the lease',
    body: bodies.heartbeatSchema,
    answers: { 200: answers.beatenAnswer },
    refuses: HOLDER,
  },
  heartbeatMany: {
    ...holder,
    params: undefined,
    path: '/api/v1/todos/batch/heartbeat',
    summary: 'Keep many leases',
    body: bodies.heartbeatManySchema,
    answers: { 200: answers.batchAnswer },
  },
  complete: {
    ...holder,
    path: `${TODO}/complete`,
    summary: 'End it well',
    body: bodies.completeSchema,
    answers: { 200: answers.todoAnswer },
    refuses: HOLDER,
  },
  completeMany: {
    ...holder,
    params: undefined,
    path: '/api/v1/todos/batch/complete',
    summary: 'Complete many todos, each by its own lease',
    body: bodies.completeManySchema,
    answers: { 200: answers.batchAnswer },
  },
  fail: {
    ...holder,
    path: `${TODO}/fail`,
    summary: 'Report a failure: tried again after a backoff, or dead-lettered',
    body: bodies.failSchema,
    answers: { 200: answers.todoAnswer },
    refuses: HOLDER,
  },
  release: {
    ...holder,
    path: `${TODO}/release`,
    summary: 'Give it back, at no cost',
    body: bodies.releaseSchema,
    answers: { 200: answers.todoAnswer },
    refuses: HOLDER,
  },
  wait: {
    ...holder,
    path: `${TODO}/wait`,
    summary: 'Let go of it until its children have ended',
    body: bodies.waitSchema,
    answers: { 200: answers.todoAnswer },
    refuses: [...HOLDER, 'no_children'],
  },
  interrupt: {
    ...holder,
    path: `${TODO}/interrupt`,
    summary: 'Ask a human, keeping the lease or letting go of it',
    body: askSchema,
    answers: { 201: answers.askedAnswer, 200: answers.askedAnswer },
    refuses: [...HOLDER, 'interrupt_open'],
  },
  resume: {
    ...holder,
    path: `${TODO}/resume`,
    summary: 'Go on with an answer the holder got by itself',
    body: bodies.resumeSchema,
    answers: { 200: answers.interruptAnswer },
    refuses: [...HOLDER, 'interrupt_closed'],
  },
  park: {
    ...onTodo,
    path: `${TODO}/park`,
    summary: 'Let go of a held question: it stays open, and whoever claims the todo next goes on',
    scopes: ['work', 'operate'],
    body: bodies.parkSchema,
    answers: { 200: answers.interruptAnswer },
    refuses: HOLDER,
  },
  beginEffect: {
    ...holder,
    path: `${TODO}/effects`,
    summary: 'Declare an outside effect before doing it; one that is done is answered with what came of it',
    body: bodies.beginEffectSchema,
    answers: { 201: answers.effectAnswer, 200: answers.effectAnswer },
    refuses: [...HOLDER, 'effect_uncertain', 'approval_mismatch'],
  },
  settleEffect: {
    ...onTodo,
    path: `${TODO}/effects/{key}`,
    summary: 'Say whether an effect happened: its worker, or a person who found out',
    scopes: ['work'],
    params: queries.effectParams,
    body: bodies.settleEffectSchema,
    answers: { 200: answers.effectAnswer },
    refuses: ['lease_lost', 'invalid_state', 'already_answered', 'interrupt_closed'],
  },
} as const satisfies Record<string, Operation>
