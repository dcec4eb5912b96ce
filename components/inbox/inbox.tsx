'use client'

import { Skeleton, VisuallyHidden } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { openPrompts } from '#lib/query/interrupts'
import { LinkButton } from '../shell/link-button'
import { useNarrow } from '../shell/use-narrow'
import { Empty } from './empty'
import styles from './inbox.module.css'
import { PromptList } from './prompt-list'
import { PromptPane } from './prompt-pane'
import { useChosen } from './use-chosen'

/** The open questions, the one with the soonest deadline first, and beside them one of them with its form. */
export function Inbox() {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(openPrompts)
  const prompts = useMemo(() => data?.pages.flatMap(({ interrupts }) => interrupts) ?? null, [data])
  const { id, choose } = useChosen()
  const isNarrow = useNarrow()
  const first = prompts?.[0]?.id

  // Said in the address at once, so that another question's news never swaps the one somebody reads.
  useEffect(() => {
    if (isNarrow === false && id === null && first) choose(first, 'replace')
  }, [isNarrow, id, first, choose])

  function goOn(answered: string): void {
    const place = prompts?.findIndex((one) => one.id === answered) ?? -1
    const left = prompts?.filter((one) => one.id !== answered) ?? []
    choose((left[Math.max(0, place)] ?? left[0])?.id ?? null, 'replace')
  }

  const isListShown = id === null || isNarrow !== true
  const isPaneShown = id !== null || isNarrow === false
  return (
    <div className={styles.inbox}>
      {isListShown && (
        <section className={styles.side} aria-label="Open questions">
          <header className={styles.head}>
            <h1 className={styles.heading}>Inbox</h1>
            {prompts && <p className={styles.count}>{countText(prompts.length, hasNextPage)}</p>}
          </header>
          {prompts === null && !error && <Waiting />}
          {prompts === null && error && <Failed error={error} retry={() => void refetch()} />}
          {prompts && (
            <PromptList
              prompts={prompts}
              chosenId={id}
              choose={choose}
              more={hasNextPage ? { load: () => void fetchNextPage(), isLoading: isFetchingNextPage } : null}
            />
          )}
          {prompts?.length === 0 && isNarrow !== false && <Empty />}
        </section>
      )}
      {isPaneShown && (
        <section className={styles.pane} aria-label="Question">
          {!isListShown && <VisuallyHidden component="h1">Inbox</VisuallyHidden>}
          {id !== null && (
            <PromptPane
              key={id}
              id={id}
              listed={prompts?.find((one) => one.id === id)}
              onAnswered={() => goOn(id)}
              onBack={isNarrow ? () => choose(null) : null}
            />
          )}
          {id === null && prompts?.length === 0 && <Empty />}
        </section>
      )}
    </div>
  )
}

const countText = (count: number, isMore: boolean): string =>
  count === 0 ? 'nothing open' : `${count}${isMore ? '+' : ''} open`

const Waiting = () => (
  <div className={styles.waiting} aria-busy>
    {[0, 1, 2].map((one) => (
      <Skeleton key={one} height={64} />
    ))}
  </div>
)

function Failed({ error, retry }: { error: Error; retry: () => void }) {
  return (
    <p className={styles.failed} role="alert">
      The questions could not be loaded: {error.message} <LinkButton onClick={retry}>Try again</LinkButton>
    </p>
  )
}
