'use client'

import { useQuery } from '@tanstack/react-query'
import { usePathname } from 'next/navigation'
import { useEffect } from 'react'
import { openCount } from '#lib/query/open-count'
import styles from './open-prompts.module.css'

const textOf = ({ count, capped }: { count: number; capped: boolean }): string =>
  capped ? `${count.toLocaleString('en')}+` : count.toLocaleString('en')

/** How many questions are open; nothing when none is. */
export function OpenPrompts() {
  const { data } = useQuery(openCount)
  if (!data || data.count === 0) return null
  return (
    <span className={styles.badge}>
      {textOf(data)}
      <span hidden> open</span>
    </span>
  )
}

const BADGE = /^\(\d[\d,]*\+?\) /

/** Says in the page's title how many questions are open, for whoever looks at another tab: (3) Board · Switchboard. */
export function TitleBadge() {
  const { data } = useQuery(openCount)
  const badge = data && data.count > 0 ? `(${textOf(data)}) ` : ''
  const path = usePathname()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page brings another title element.
  useEffect(() => {
    function mark(): void {
      const title = `${badge}${document.title.replace(BADGE, '')}`
      if (document.title !== title) document.title = title
    }
    mark()
    // A page's own title may come after the page.
    const watch = new MutationObserver(mark)
    watch.observe(document.head, { subtree: true, childList: true, characterData: true })
    return () => watch.disconnect()
  }, [badge, path])
  return null
}
