import { IconInbox } from '@tabler/icons-react'
import Link from 'next/link'
import styles from './inbox.module.css'

/** The inbox when nobody asks anything. */
export function Empty() {
  return (
    <div className={styles.empty}>
      <IconInbox size={36} stroke={1.25} aria-hidden />
      <h2>Nobody waits for you</h2>
      <p>
        When a worker asks a question, it appears here at once, the one with the soonest deadline first. Until then the{' '}
        <Link href="/board">board</Link> shows what everybody does.
      </p>
    </div>
  )
}
