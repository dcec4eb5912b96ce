'use client'

import { useInfiniteQuery } from '@tanstack/react-query'
import Link from 'next/link'
import { bulks } from '#lib/query/bulk'
import { LinkButton } from '../shell/link-button'
import { RelativeTime } from '../shell/relative-time'
import { Actor } from '../todo/actor'
import styles from './bulk.module.css'
import { BULK_WORDS, standing, todosOf } from './bulk-words'

/** The bulk runs there were, newest first. */
export function BulkRuns() {
  const { data, error, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery(bulks)
  const runs = data?.pages.flatMap((page) => page.bulks) ?? []
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>Bulk runs</h1>
        <p>What was done to many todos at once. A column of the board orders one, from the menu in its head.</p>
      </header>
      {error && !data && (
        <p role="alert">
          {error.message} <LinkButton onClick={() => void refetch()}>Try again</LinkButton>
        </p>
      )}
      {data && runs.length === 0 && <p className={styles.none}>There has been none.</p>}
      {runs.length > 0 && (
        <ol className={styles.list}>
          {runs.map((run) => (
            <li key={run.id} className={styles.row}>
              <Link href={`/bulk/${run.id}`} className={styles.title}>
                {BULK_WORDS[run.action].verb} {todosOf(run.matched)}
              </Link>
              <span className={styles.facts}>
                {standing(run)} <Actor actor={run.ordered_by} />, <RelativeTime at={run.created_at} />
              </span>
            </li>
          ))}
        </ol>
      )}
      {hasNextPage && <LinkButton onClick={() => void fetchNextPage()}>Show more</LinkButton>}
    </div>
  )
}
