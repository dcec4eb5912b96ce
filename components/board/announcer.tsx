'use client'

import { VisuallyHidden } from '@mantine/core'
import { useThrottledValue } from '@mantine/hooks'
import { INTERRUPTS } from '#lib/model/states'
import { sum } from '#lib/query/counts'
import { useCounts } from './use-tally'

const EVERY_MS = 10_000

/** Tells those who cannot see the board what on it needs somebody, at most once in ten seconds. */
export function Announcer() {
  const counts = useCounts()
  const text = counts ? wordsOf(sum(counts, INTERRUPTS).count, counts.failed.count) : ''
  return <VisuallyHidden role="status">{useThrottledValue(text, EVERY_MS)}</VisuallyHidden>
}

const wordsOf = (open: number, failed: number): string =>
  `${open === 1 ? '1 question is' : `${open} questions are`} open, ${failed === 1 ? '1 todo has' : `${failed} todos have`} failed`
