'use client'

import { useRouter } from 'next/navigation'
import { useEffect } from 'react'

/** Fetches the page's facts anew every few seconds while somebody looks at it, and at once on coming back. */
export function Refresh({ everySeconds }: { everySeconds: number }) {
  const { refresh } = useRouter()
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === 'visible') refresh()
    }
    const timer = setInterval(look, everySeconds * 1000)
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }, [refresh, everySeconds])
  return null
}
