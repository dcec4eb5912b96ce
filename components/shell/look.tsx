'use client'

import { MantineProvider } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { theme, variables } from './theme'

/** Gives all below it the look, in the system's colour scheme unless the person chose one; styles carry the page's nonce. */
export function Look({ nonce, children }: { nonce: string; children: ReactNode }) {
  // A refetch of the page comes with a nonce of its own, but the document goes on under its first.
  const [first] = useState(() => published(nonce))
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      getStyleNonce={() => first}
    >
      {children}
    </MantineProvider>
  )
}

// What locks the page's scrolling under a drawer adds a style of its own, and looks for the nonce under this name.
function published(nonce: string): string {
  if (typeof window !== 'undefined') Object.assign(window, { __webpack_nonce__: nonce })
  return nonce
}
