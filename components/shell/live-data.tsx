'use client'

import { QueryClientProvider } from '@tanstack/react-query'
import dynamic from 'next/dynamic'
import { NuqsAdapter } from 'nuqs/adapters/next/app'
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { createQueryClient } from '#lib/query/query-client'
import { startStream } from '#lib/query/stream'
import { hasToasts } from './toast'

const Toasts = dynamic(() => import('./toasts'), { ssr: false })

const no = () => false
const useHasToasts = (): boolean => useSyncExternalStore(hasToasts.subscribe, hasToasts.get, no)

/** Gives all below it the data that the stream keeps right, the address as state, and a place for toasts. */
export function LiveData({ children }: { children: ReactNode }) {
  const [client] = useState(createQueryClient)
  useEffect(() => startStream(client), [client])
  return (
    <QueryClientProvider client={client}>
      <NuqsAdapter>{children}</NuqsAdapter>
      {useHasToasts() && <Toasts />}
    </QueryClientProvider>
  )
}
