import type { CSSProperties } from 'react'
import { STATES, type State } from '#lib/model/states'

/** A state's colour for the styles below, as `--tone`. */
export const toneOf = (state: State): CSSProperties =>
  ({ '--tone': `var(--mantine-color-${STATES[state].color}-filled)` }) as CSSProperties
