'use client'

import { UnstyledButton } from '@mantine/core'
import { useMemo, useState } from 'react'
import type { Proposal as Proposed } from '#lib/wire/interrupt'
import { timeLeft } from '../shell/time-span'
import { Untrusted } from '../shell/untrusted'
import { masked } from '../todo/tree'
import { argumentRows } from './arguments'
import styles from './proposal.module.css'

const SHOWN_AT_FIRST = 40

interface ProposalProps {
  proposal: Proposed
  /** How long the approval is good for once it is given, where that is known. */
  validSeconds?: number | null
}

/** What an approval is asked for: the action, each of its arguments, and what the approval is bound to. */
export function Proposal({ proposal, validSeconds }: ProposalProps) {
  const { action, arguments_hash: hash } = proposal
  const rows = useMemo(() => argumentRows(masked(proposal.arguments)), [proposal])
  const [isWhole, setWhole] = useState(rows.length <= SHOWN_AT_FIRST)
  const hasNone = rows.length === 1 && rows[0]?.path === '' && rows[0].text === 'null'
  return (
    <section className={styles.proposal} aria-label="Proposal">
      <p className={styles.label}>Proposed</p>
      <p className={styles.action}>
        <Untrusted text={action} />
      </p>
      {hasNone ? (
        <p className={styles.none}>It takes no arguments.</p>
      ) : (
        <dl className={styles.rows}>
          {(isWhole ? rows : rows.slice(0, SHOWN_AT_FIRST)).map(({ path, text }) => (
            <div key={path} className={styles.row}>
              <dt>{path === '' ? 'argument' : <Untrusted text={path} />}</dt>
              <dd>
                <Untrusted text={text} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {!isWhole && (
        <UnstyledButton className={styles.more} onClick={() => setWhole(true)}>
          Show all {rows.length} arguments
        </UnstyledButton>
      )}
      <p className={styles.bound}>
        An approval covers exactly this, once
        {validSeconds ? `, and for ${timeLeft(validSeconds)} after it is given` : ''}. Arguments{' '}
        <code title={`SHA-256 ${hash}`}>{hash.slice(0, 12)}</code>
      </p>
    </section>
  )
}
