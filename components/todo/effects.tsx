'use client'

import { Badge } from '@mantine/core'
import { CALLS } from '#lib/query/client'
import type { Effect } from '#lib/wire/effect'
import type { Todo } from '#lib/wire/todo'
import { RelativeTime } from '../shell/relative-time'
import { shown, Untrusted } from '../shell/untrusted'
import { Actor } from './actor'
import { mayAs } from './acts-table'
import boxes from './boxes.module.css'
import { isUnderWay, STANDS, standOf } from './effect-stand'
import styles from './effects.module.css'
import { Heading } from './heading'
import { SettleForm } from './settle-form'
import { masked } from './tree'
import { useRole } from './use-role'

/** What a todo's workers did, or began to do, outside; what is in doubt can be settled here. */
export function Effects({ effects, todo }: { effects: readonly Effect[]; todo: Todo }) {
  const role = useRole()
  const maySettle = mayAs(role, CALLS.settleEffect.role)
  if (effects.length === 0) {
    return (
      <p className={boxes.none}>
        No worker has declared an effect. One that does something outside, such as sending or paying, declares it first,
        so that nobody does it twice.
      </p>
    )
  }
  return (
    <ol className={boxes.boxes}>
      {effects.map((effect) => (
        <li key={effect.id} className={boxes.box} data-lit={standOf(effect, todo) === 'doubt' || undefined}>
          <Facts effect={effect} todo={todo} />
          {effect.status === 'begun' && maySettle && (
            <SettleForm effect={effect} todo={todo} isUnderWay={isUnderWay(effect, todo)} />
          )}
          {effect.status === 'begun' && role !== null && !maySettle && (
            <p className={boxes.facts}>Settling it takes the role of an operator.</p>
          )}
        </li>
      ))}
    </ol>
  )
}

function Facts({ effect, todo }: { effect: Effect; todo: Todo }) {
  const { label, color } = STANDS[standOf(effect, todo)]
  return (
    <>
      <header className={boxes.head}>
        <Heading below={1} className={boxes.title}>
          <Untrusted text={effect.key} />
        </Heading>
        <Badge size="sm" variant="light" color={color}>
          {label}
        </Badge>
      </header>
      {effect.description && (
        <p className={styles.description}>
          <Untrusted text={effect.description} />
        </p>
      )}
      <p className={boxes.facts}>
        Begun in attempt {effect.lease_epoch}, <RelativeTime at={effect.begun_at} />
        {effect.idempotent ? ', may be done twice' : ', must not be done twice'}
        {effect.interrupt_id && ', under an approval'}
        {effect.ended_at && (
          <>
            ; settled <RelativeTime at={effect.ended_at} /> by{' '}
            {effect.settled_by ? <Actor actor={effect.settled_by} /> : 'its worker'}
          </>
        )}
      </p>
      {effect.comment && (
        <p className={boxes.comment}>
          <Untrusted text={effect.comment} />
        </p>
      )}
      {effect.result !== null && (
        <pre className={styles.result}>{shown(JSON.stringify(masked(effect.result), null, 2))}</pre>
      )}
    </>
  )
}
