'use client'

import { PageFailure } from '#components/shell/page-failure'

export default function Failure(props: { error: Error & { digest?: string }; reset: () => void }) {
  return <PageFailure {...props} />
}
