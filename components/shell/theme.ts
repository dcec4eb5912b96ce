import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'

// Mantine's greys in the dark, from text to ground, of the same cast as our own surfaces.
const DARK: MantineColorsTuple = [
  '#e9e7e2',
  '#c6c7c7',
  '#9da3a9',
  '#737a81',
  '#3d444a',
  '#2a2f34',
  '#1c2024',
  '#15181b',
  '#0f1113',
  '#0a0b0d',
]

/** The look in Mantine's terms: the system's own fonts, small radii, one quiet blue. The colours of surfaces are in app/globals.css. */
export const theme = createTheme({
  colors: { dark: DARK },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", Menlo, Consolas, monospace',
  headings: { fontWeight: '600' },
  primaryColor: 'blue',
  primaryShade: 8,
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
})

const surfaces = {
  '--mantine-color-body': 'var(--ground)',
  '--mantine-color-text': 'var(--ink)',
  '--mantine-color-dimmed': 'var(--ink-soft)',
  '--mantine-color-default-border': 'var(--line)',
}

/** Makes Mantine's own surfaces follow ours, and its small coloured text readable on them. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...surfaces,
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-blue-light-color': 'var(--mantine-color-blue-9)',
    '--mantine-color-yellow-light-color': '#7a4a00',
  },
  dark: { ...surfaces, '--mantine-color-error': 'var(--mantine-color-red-5)' },
})
