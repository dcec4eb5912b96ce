'use client'

import { LinkButton } from './link-button'
import { Notice } from './notice'

/** What stands in place of a page that could not be shown. */
export function PageFailure({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  return (
    <Notice title="This page could not be shown">
      The queue goes on without it.{' '}
      {error.digest && `The log of the web process has the cause under digest ${error.digest}.`}{' '}
      <LinkButton onClick={reset}>Try again</LinkButton>
    </Notice>
  )
}
