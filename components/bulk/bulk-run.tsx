'use client'

import { SegmentedControl, Skeleton } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import Link from 'next/link'
import { useState } from 'react'
import { Refusal } from '#lib/model/errors'
import { bulkOf, bulkResultsOf } from '#lib/query/bulk'
import type { BulkOutcome, BulkResult, BulkRun as Run } from '#lib/wire/bulk'
import { LinkButton } from '../shell/link-button'
import { Notice } from '../shell/notice'
import { RelativeTime } from '../shell/relative-time'
import { Untrusted } from '../shell/untrusted'
import { Actor } from '../todo/actor'
import styles from './bulk.module.css'
import { BulkStanding } from './bulk-standing'
import { BULK_WORDS, todosOf } from './bulk-words'

/** A bulk run on a page of its own: how it stands, and what became of each todo. */
export function BulkRun({ id }: { id: string }) {
  const { data: run, error, isPending, refetch } = useQuery(bulkOf(id))
  if (error && !run) {
    const isGone = error instanceof Refusal && error.code === 'not_found'
    return (
      <Notice title={isGone ? 'There is no such bulk run' : 'This bulk run could not be loaded'}>
        {isGone ? 'It was pruned, or somebody else ordered it.' : error.message}{' '}
        <LinkButton onClick={() => void refetch()}>Try again</LinkButton>
      </Notice>
    )
  }
  if (isPending || !run) return <Skeleton className={styles.page} height={160} />
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>
          {BULK_WORDS[run.action].verb} {todosOf(run.matched)}
        </h1>
        <p>
          Ordered by <Actor actor={run.ordered_by} /> <RelativeTime at={run.created_at} />
          {run.reason && (
            <>
              : <Untrusted text={run.reason} />
            </>
          )}
          . <Link href="/bulk">All bulk runs</Link>
        </p>
      </header>
      <BulkStanding run={run} />
      <Results run={run} />
    </div>
  )
}

function Results({ run }: { run: Run }) {
  const [chosen, choose] = useState<BulkOutcome | null>(null)
  const outcome = chosen ?? (run.failed > 0 ? 'failed' : 'done')
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    bulkResultsOf(run.id, outcome),
  )
  const results = data?.pages.flatMap((page) => page.results) ?? []
  const counts = { failed: run.failed, done: run.done, left: run.matched - run.done - run.failed }
  return (
    <section className={styles.results} aria-label="Results">
      <SegmentedControl
        value={outcome}
        onChange={(value) => choose(value as BulkOutcome)}
        aria-label="Which results"
        data={[
          { value: 'failed', label: `Not done ${counts.failed.toLocaleString('en')}` },
          { value: 'done', label: `Done ${counts.done.toLocaleString('en')}` },
          { value: 'left', label: `Left ${counts.left.toLocaleString('en')}` },
        ]}
      />
      {error && <p role="alert">{error.message}</p>}
      {data && results.length === 0 && <p className={styles.none}>None.</p>}
      {results.length > 0 && (
        <ol className={styles.list}>
          {results.map((result) => (
            <Result key={result.todo_id} result={result} />
          ))}
        </ol>
      )}
      {hasNextPage && (
        <LinkButton onClick={() => void fetchNextPage()} disabled={isFetchingNextPage}>
          Show more
        </LinkButton>
      )}
    </section>
  )
}

function Result({ result: { todo_id, title, code, detail, at } }: { result: BulkResult }) {
  return (
    <li className={styles.row}>
      {title === null ? (
        <span className={styles.title}>{todo_id}</span>
      ) : (
        <Link href={`/todos/${todo_id}`} className={styles.title}>
          <Untrusted text={title} />
        </Link>
      )}
      <span className={styles.facts}>{code ? (detail ?? code) : at && <RelativeTime at={at} />}</span>
    </li>
  )
}
