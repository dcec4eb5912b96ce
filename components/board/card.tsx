'use client'

import { IconDots } from '@tabler/icons-react'
import { type MouseEvent, memo, useState } from 'react'
import { STATE_NAMES, STATES } from '#lib/model/states'
import type { Cause } from '#lib/query/known'
import type { Card as Todo } from '#lib/wire/todo'
import { shown, Untrusted } from '../shell/untrusted'
import { useBoard } from './board-context'
import styles from './card.module.css'
import { CardClock } from './card-clock'
import { sideOf, whyBack } from './cause'
import { Lamp } from './lamp'
import { Pips } from './pips'
import { createRation } from './ration'

const ARRIVED_MS = 1500
// Each that glows is a layer of its own: with all of twenty a second the browser spent half of its time sorting layers.
const arrivals = createRation({ most: 6, ms: ARRIVED_MS })

interface CardProps {
  card: Todo
  /** It has left this column, and stays only while somebody reads. */
  isGone: boolean
  cause: Cause | null
}

/** One todo on the board. */
export const Card = memo(function Card({ card, isGone, cause }: CardProps) {
  const { open, openMenu, prompts } = useBoard()
  const [arrival] = useState(() => arrivalOf(card, cause))
  const prompt = prompts.get(card.id)
  const back = whyBack(card, cause)

  function opened(event: MouseEvent): void {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    open(card.id)
  }

  return (
    <article className={styles.card} data-arrival={arrival} data-gone={isGone || undefined}>
      <div className={styles.head}>
        <span className={styles.lamp}>
          <Lamp state={card.state} size={13} />
        </span>
        <a href={`/todos/${card.id}`} className={styles.title} onClick={opened} data-card={card.id}>
          <Untrusted text={card.title} />
        </a>
        <button
          type="button"
          className={styles.more}
          aria-label={`Actions for ${shown(card.title)}`}
          aria-haspopup="menu"
          onClick={(event) => openMenu(card, event.currentTarget)}
        >
          <IconDots size={16} aria-hidden />
        </button>
      </div>
      <div className={styles.body}>
        {isGone && <p className={styles.gone}>Now {STATES[card.state].label.toLowerCase()}</p>}
        <p className={styles.facts}>
          <Where card={card} />
        </p>
        {card.owner && (
          <p className={styles.facts} title={shown(card.owner)}>
            <Untrusted text={workerOf(card.owner)} />
          </p>
        )}
        {prompt && (
          <p className={styles.asks}>
            <Untrusted text={prompt.title} />
          </p>
        )}
        {card.state === 'failed' && card.error && (
          <p className={styles.error}>
            <strong>
              <Untrusted text={card.error.code} />
            </strong>{' '}
            <Untrusted text={card.error.message} />
          </p>
        )}
        {back && <p className={styles.back}>{back}</p>}
        {card.state === 'claimed' && <Progress progress={card.progress} />}
        <div className={styles.foot}>
          <CardClock card={card} prompt={prompt} />
          <Pips spent={card.failures + card.lease_expirations} of={card.max_attempts} />
        </div>
      </div>
    </article>
  )
})

function Where({ card }: { card: Todo }) {
  return (
    <>
      {card.kind && (
        <>
          <Untrusted text={card.kind} /> ·{' '}
        </>
      )}
      {card.queue}
      {card.assignee && !card.owner && ` · for ${card.assignee}`}
    </>
  )
}

// A worker that has no name of its own is known by its endpoint's.
function workerOf(owner: string): string {
  const [endpoint = owner, worker] = owner.split('/')
  return worker === undefined || worker === 'default' ? endpoint : worker
}

/** What a worker reports of itself; anything else in there is not for the board. */
function Progress({ progress }: { progress: Todo['progress'] }) {
  const { ratio, message } = (progress ?? {}) as { ratio?: number; message?: string }
  if (ratio === undefined && !message) return null
  return (
    <p className={styles.progress}>
      {ratio !== undefined && <span className={styles.ratio}>{Math.round(ratio * 100)} %</span>}
      {message && <Untrusted text={message} />}
    </p>
  )
}

function arrivalOf({ state }: Todo, cause: Cause | null) {
  const now = performance.now()
  if (!cause || now - cause.heardAt > ARRIVED_MS || !arrivals.begin(now)) return undefined
  return sideOf(cause.from, state, STATE_NAMES)
}
