'use client'

import { UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { STATES, type State } from '#lib/model/states'
import type { Event } from '#lib/wire/event'
import { Lamp } from '../board/lamp'
import { RelativeTime } from '../shell/relative-time'
import { shown, Untrusted } from '../shell/untrusted'
import { Actor } from './actor'
import styles from './timeline.module.css'
import { masked } from './tree'
import { aboutText, HAPPENED, reasonText } from './words'

/** One fact of a todo's history; the event as it was logged, for who wants to see it. */
export function TimelineEvent({ event }: { event: Event }) {
  const [isRaw, setRaw] = useState(false)
  const more = reasonText(event.reason) ?? aboutText(event)
  return (
    <li className={styles.event} data-verb={event.verb}>
      <span className={styles.node}>
        {event.to_state ? <Lamp state={event.to_state} size={13} /> : <span className={styles.tick} />}
      </span>
      <div className={styles.what}>
        <p className={styles.line}>
          <strong>{HAPPENED[event.verb]}</strong>
          {more && (
            <>
              : <Untrusted text={more} />
            </>
          )}
        </p>
        <p className={styles.by}>
          by <Actor actor={event.actor} />
          <Moved from={event.from_state} to={event.to_state} />
        </p>
        {isRaw && <pre className={styles.raw}>{shown(JSON.stringify(masked(event), null, 2))}</pre>}
      </div>
      <div className={styles.side}>
        <RelativeTime at={event.at} className={styles.at} />
        <UnstyledButton className={styles.more} aria-expanded={isRaw} onClick={() => setRaw(!isRaw)}>
          {isRaw ? 'Hide event' : 'Raw event'}
        </UnstyledButton>
      </div>
    </li>
  )
}

function Moved({ from, to }: { from: State | null; to: State | null }) {
  if (to === null) return null
  return (
    <>
      {' · '}
      {from && `${STATES[from].label.toLowerCase()} → `}
      {STATES[to].label.toLowerCase()}
    </>
  )
}
