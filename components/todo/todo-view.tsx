'use client'

import { Badge, Button, Skeleton, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import dynamic from 'next/dynamic'
import { parseAsStringLiteral, useQueryState } from 'nuqs'
import type { ReactNode } from 'react'
import { Refusal } from '#lib/model/errors'
import { todoDetail } from '#lib/query/todos'
import { useTabInView } from '../shell/use-tab-in-view'
import { doubtful } from './effect-stand'
import { Heading } from './heading'
import { Limits } from './limits'
import { Questions } from './questions'
import { Standing } from './standing'
import { Timeline } from './timeline'
import { TodoHeader } from './todo-header'
import styles from './todo-view.module.css'

const Payload = dynamic(() => import('./payload'), { loading: () => <Skeleton height={180} mt="md" /> })
const Effects = dynamic(() => import('./effects').then((module) => module.Effects))

const Children = dynamic(() => import('./children').then((module) => module.Children))

const TABS = ['timeline', 'payload', 'questions', 'effects', 'children'] as const
const tabs = parseAsStringLiteral(TABS).withDefault('timeline')

/** One todo with its history; `extra` are buttons of the place it is shown in. */
export function TodoView({ id, extra }: { id: string; extra?: ReactNode }) {
  const { data, error, refetch } = useQuery(todoDetail(id))
  const [tab, setTab] = useQueryState('tab', tabs.withOptions({ history: 'replace', scroll: false }))
  const row = useTabInView(tab, data !== undefined)
  if (!data)
    return error ? <Missing error={error} retry={() => void refetch()} extra={extra} /> : <Loading extra={extra} />
  const open = data.interrupts.filter(({ status }) => status === 'open').length
  const inDoubt = doubtful(data.effects, data.todo) > 0

  return (
    <article className={styles.view} aria-label={data.todo.title}>
      <TodoHeader todo={data.todo} parent={data.parent} extra={extra} toQuestions={() => void setTab('questions')} />
      <Standing detail={data} />
      <Limits todo={data.todo} />
      <Tabs
        value={tab}
        onChange={(chosen) => void setTab(chosen as typeof tab)}
        keepMounted={false}
        className={styles.tabs}
      >
        <Tabs.List ref={row} className={styles.tabList}>
          <Tabs.Tab value="timeline">Timeline</Tabs.Tab>
          <Tabs.Tab value="payload">Payload and result</Tabs.Tab>
          <Tabs.Tab value="questions" rightSection={<Count of={data.interrupts.length} isLit={open > 0} />}>
            Questions
          </Tabs.Tab>
          <Tabs.Tab value="effects" rightSection={<Count of={data.effects.length} isLit={inDoubt} />}>
            Effects
          </Tabs.Tab>
          <Tabs.Tab value="children" rightSection={<Count of={data.children.total} isLit={false} />}>
            Children
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="timeline" pt="md">
          <Timeline id={id} attempts={data.attempts} isBeating={data.todo.state === 'claimed'} />
        </Tabs.Panel>
        <Tabs.Panel value="payload" pt="md">
          <Payload todo={data.todo} />
        </Tabs.Panel>
        <Tabs.Panel value="questions" pt="md">
          <Questions interrupts={data.interrupts} />
        </Tabs.Panel>
        <Tabs.Panel value="effects" pt="md">
          <Effects effects={data.effects} todo={data.todo} />
        </Tabs.Panel>
        <Tabs.Panel value="children" pt="md">
          <Children {...data} />
        </Tabs.Panel>
      </Tabs>
    </article>
  )
}

/** How many there are, lit when one of them wants somebody. */
function Count({ of, isLit }: { of: number; isLit: boolean }) {
  if (of === 0) return null
  return (
    <Badge size="xs" variant={isLit ? 'filled' : 'light'} color={isLit ? 'yellow' : 'gray'} autoContrast>
      {of}
    </Badge>
  )
}

function Loading({ extra }: { extra: ReactNode }) {
  return (
    <div className={styles.view} aria-busy>
      <div className={styles.extra}>{extra}</div>
      <Skeleton height={28} width="60%" />
      <Skeleton height={52} mt="md" />
      <Skeleton height={220} mt="md" />
    </div>
  )
}

function Missing({ error, retry, extra }: { error: Error; retry: () => void; extra: ReactNode }) {
  const isAbsent = error instanceof Refusal && ['not_found', 'validation_failed'].includes(error.code)
  return (
    <div className={styles.view}>
      <div className={styles.extra}>{extra}</div>
      <Heading below={0} className={styles.missing}>
        {isAbsent ? 'There is no such todo' : 'This todo could not be loaded'}
      </Heading>
      <p className={styles.soft}>
        {isAbsent
          ? 'It may have been deleted since: ended todos are not kept for ever. Or the address was cut short.'
          : error.message}
      </p>
      {!isAbsent && (
        <Button variant="default" size="xs" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}
