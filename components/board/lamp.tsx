import type { CSSProperties, ReactNode } from 'react'
import { STATES, type State } from '#lib/model/states'
import styles from './lamp.module.css'

type Shape = (typeof STATES)[State]['lamp']

const disc = <circle cx="8" cy="8" r="6.5" fill="currentColor" />
const cut = {
  fill: 'none',
  stroke: 'var(--lamp-cut)',
  strokeWidth: 2,
  strokeLinecap: 'round',
  strokeLinejoin: 'round',
} as const
const line = { fill: 'none', stroke: 'currentColor', strokeWidth: 1.75, strokeLinecap: 'round' } as const

/** What each lamp shows: no two alike even without colour or blinking. */
const SHAPES: Record<Shape, { glyph: ReactNode; motion?: string | undefined; isLit?: boolean }> = {
  hollow: { glyph: <circle cx="8" cy="8" r="5.75" {...line} /> },
  steady: { glyph: disc, isLit: true },
  'slow-blink': {
    glyph: (
      <>
        {disc}
        <path d="M6.2 6.4a1.8 1.8 0 1 1 2.6 1.7c-.6.3-.8.6-.8 1.1M8 11.4v.01" {...cut} strokeWidth={1.6} />
      </>
    ),
    motion: styles.slowBlink,
    isLit: true,
  },
  blink: {
    glyph: (
      <>
        {disc}
        <path d="M8 7.2v3.4" {...cut} />
        <circle cx="8" cy="6.3" r="1.6" fill="var(--lamp-cut)" />
      </>
    ),
    motion: styles.blink,
    isLit: true,
  },
  ring: {
    glyph: (
      <>
        <circle cx="8" cy="8" r="5.75" {...line} strokeWidth={2.25} />
        <circle cx="8" cy="8" r="2" fill="currentColor" />
      </>
    ),
  },
  check: {
    glyph: (
      <>
        {disc}
        <path d="M5.2 8.2l2 2 3.7-4" {...cut} />
      </>
    ),
  },
  cross: {
    glyph: (
      <>
        {disc}
        <path d="M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4" {...cut} />
      </>
    ),
  },
  slash: {
    glyph: (
      <>
        <circle cx="8" cy="8" r="5.75" {...line} />
        <path d="M4.2 11.8l7.6-7.6" {...line} />
      </>
    ),
  },
  minus: {
    glyph: (
      <>
        <circle cx="8" cy="8" r="5.75" {...line} />
        <path d="M5.2 8h5.6" {...line} />
      </>
    ),
  },
}

interface Light {
  shape: Shape
  /** One of Mantine's colours. */
  color: string
  size?: number
  /** What the lamp says to those who cannot see it; none where a text beside it says the same. */
  label?: string
}

/** A lamp of any meaning. For a todo's state use `Lamp`. */
export function Light({ shape, color, size = 16, label }: Light) {
  const { glyph, motion, isLit } = SHAPES[shape]
  const tint = {
    '--lamp-in-light': `var(--mantine-color-${color}-8)`,
    '--lamp-in-dark': `var(--mantine-color-${color}-4)`,
  } as CSSProperties
  const className = [styles.lamp, motion, isLit && styles.lit].filter(Boolean).join(' ')
  const drawn = (
    <svg viewBox="0 0 16 16" width={size} height={size} className={className} style={tint} aria-hidden="true">
      {glyph}
    </svg>
  )
  if (!label) return drawn
  return (
    <span role="img" aria-label={label} className={styles.said}>
      {drawn}
    </span>
  )
}

/** A todo's lamp, as on a telephone switchboard: shape, colour and motion of its state. */
export function Lamp({ state, size = 16, label }: { state: State; size?: number; label?: string }) {
  const { lamp, color } = STATES[state]
  return <Light shape={lamp} color={color} size={size} {...(label === undefined ? {} : { label })} />
}
