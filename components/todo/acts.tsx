'use client'

import dynamic from 'next/dynamic'
import { useSyncExternalStore } from 'react'
import { asked } from './acts-table'

const ActDialog = dynamic(() => import('./act-dialog'), { ssr: false })
const nothing = () => null

/** Confirms and does what `askFor` asks for; once on each page that shows todos. */
export function Acts() {
  const act = useSyncExternalStore(asked.subscribe, asked.get, nothing)
  return act && <ActDialog key={`${act.name} ${act.card.id}`} {...act} onClose={() => asked.set(null)} />
}
