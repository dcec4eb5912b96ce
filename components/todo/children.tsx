'use client'

import Link from 'next/link'
import { STATES } from '#lib/model/states'
import type { Detail } from '#lib/query/cache'
import { Lamp } from '../board/lamp'
import { toneOf } from '../board/tone'
import { RelativeTime } from '../shell/relative-time'
import { Untrusted } from '../shell/untrusted'
import boxes from './boxes.module.css'
import styles from './children.module.css'

/** The todos that are parts of this one, as they stand, in the order they were made. */
export function Children({ children: { todos, total } }: { children: Detail['children'] }) {
  if (total === 0) {
    return (
      <p className={boxes.none}>
        It has no children. A worker that splits its work makes some, and goes on when all of them have ended.
      </p>
    )
  }
  return (
    <>
      <ol className={styles.list}>
        {todos.map((child) => (
          <li key={child.id} className={styles.child} style={toneOf(child.state)}>
            <Lamp state={child.state} size={14} />
            <Link href={`/todos/${child.id}`} className={styles.title}>
              <Untrusted text={child.title} />
            </Link>
            <span className={styles.state}>
              {STATES[child.state].label}, <RelativeTime at={child.state_since} />
            </span>
          </li>
        ))}
      </ol>
      {total > todos.length && (
        <p className={boxes.none}>
          The first {todos.length} of {total}.
        </p>
      )}
    </>
  )
}
