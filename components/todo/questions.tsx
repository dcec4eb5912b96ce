'use client'

import { Badge } from '@mantine/core'
import dynamic from 'next/dynamic'
import { CALLS } from '#lib/query/client'
import type { Role } from '#lib/wire/caller'
import type { Interrupt } from '#lib/wire/interrupt'
import { doneText } from '../inbox/done-text'
import { RelativeTime } from '../shell/relative-time'
import { Untrusted } from '../shell/untrusted'
import { Actor } from './actor'
import { mayAs } from './acts-table'
import { AnswerContent } from './answer-content'
import boxes from './boxes.module.css'
import { Heading } from './heading'
import styles from './questions.module.css'
import { useRole } from './use-role'
import { STANDS } from './words'

const Markdown = dynamic(() => import('../inbox/markdown').then((module) => module.Markdown))
const Proposal = dynamic(() => import('../inbox/proposal').then((module) => module.Proposal))
const AnswerHere = dynamic(() => import('./answer-here'), { ssr: false })

const ASKED = { input: 'Asked', auth: 'Sign-in asked for', approval: 'Approval asked for' } as const

/** Every question a todo's workers asked, the latest first, with the answers; an open one can be answered here. */
export function Questions({ interrupts }: { interrupts: readonly Interrupt[] }) {
  const role = useRole()
  if (interrupts.length === 0) {
    return (
      <p className={boxes.none}>
        No worker has asked anything. When one does, its question can be answered here and in the inbox.
      </p>
    )
  }
  return (
    <ol className={boxes.boxes}>
      {[...interrupts].reverse().map((one) => (
        <li key={one.id} className={boxes.box} data-lit={one.status === 'open' || undefined}>
          <header className={boxes.head}>
            <Heading below={1} className={boxes.title}>
              <Untrusted text={one.title} />
            </Heading>
            {(one.risk === 'high' || one.risk === 'critical') && (
              <Badge size="xs" color="red" variant="light" className={styles.risk}>
                {one.risk} risk
              </Badge>
            )}
          </header>
          <p className={boxes.facts}>
            {ASKED[one.kind]} in attempt {one.attempt_seq}
            {one.mode === 'park' && ', parked'}, <RelativeTime at={one.requested_at} />
          </p>
          {one.message && (
            <div className={styles.message}>
              <Markdown text={one.message} />
            </div>
          )}
          {one.proposal && <Proposal proposal={one.proposal} />}
          {one.status === 'open' ? <OpenQuestion interrupt={one} role={role} /> : <Answer interrupt={one} />}
        </li>
      ))}
    </ol>
  )
}

function OpenQuestion({ interrupt, role }: { interrupt: Interrupt; role: Role | null }) {
  if (role === null) return null
  if (mayAs(role, CALLS.answerInterrupt.role)) return <AnswerHere interrupt={interrupt} />
  return <p className={boxes.facts}>It is open. Answering it takes the role of a responder.</p>
}

function Answer({ interrupt }: { interrupt: Interrupt }) {
  const { kind, status, action, answered_by, answered_at, channel } = interrupt
  return (
    <div className={styles.answer}>
      <p className={styles.outcome}>
        <strong>{action && status === 'answered' ? doneText(kind, action) : STANDS[status]}</strong>
        {answered_by && (
          <>
            {' '}
            by <Actor actor={answered_by} />
          </>
        )}
        {answered_at && (
          <>
            {' '}
            <RelativeTime at={answered_at} />
          </>
        )}
        {channel && channel !== 'web' && ` through ${channel}`}
      </p>
      <AnswerContent interrupt={interrupt} />
    </div>
  )
}
