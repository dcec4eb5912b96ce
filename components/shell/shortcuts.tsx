'use client'

import dynamic from 'next/dynamic'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import type { PageKey } from './page-key'
import { useKeys } from './use-keys'

const ShortcutSheet = dynamic(() => import('./shortcut-sheet'), { ssr: false })

/** The keys that work on every page: `g` and a page's own, `/` for the search, `?` for the list of all. */
export function Shortcuts({ pages }: { pages: readonly PageKey[] }) {
  const router = useRouter()
  const [isSheetOpen, setSheetOpen] = useState(false)
  useKeys({
    ...Object.fromEntries(pages.map(({ key, href }) => [`g ${key}`, () => router.push(href)])),
    '/': () => document.querySelector<HTMLElement>('[data-search]')?.focus(),
    '?': () => setSheetOpen(true),
  })
  return isSheetOpen && <ShortcutSheet pages={pages} onClose={() => setSheetOpen(false)} />
}
