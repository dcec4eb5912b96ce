'use client'

import { PageFailure } from '#components/shell/page-failure'
import { PlainFrame } from '#components/shell/plain-frame'

export default function Failure(props: { error: Error & { digest?: string }; reset: () => void }) {
  return (
    <PlainFrame>
      <PageFailure {...props} />
    </PlainFrame>
  )
}
