import { type CSSVariablesResolver, createTheme } from '@mantine/core'

/** The look in Mantine's terms: the system's own fonts, small radii, one quiet blue. The colours of surfaces are in app/globals.css. */
export const theme = createTheme({
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", Menlo, Consolas, monospace',
  headings: { fontWeight: '600' },
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 5 },
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

/** Makes Mantine's own surfaces follow ours. */
export const variables: CSSVariablesResolver = () => ({ variables: {}, light: surfaces, dark: surfaces })
