'use client'

import { ActionIcon, CopyButton } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import styles from './snippet.module.css'

/** Text ready to paste: `where` it goes (a terminal, a file) stands above it, `label` says what it is. */
export function Snippet({ label, where, text }: { label: string; where: string; text: string }) {
  return (
    <div className={styles.snippet}>
      <div className={styles.head}>
        {where}
        <CopyButton value={text} timeout={1500}>
          {({ copied, copy }) => (
            <ActionIcon
              className={styles.copy}
              variant="subtle"
              color="gray"
              size={30}
              onClick={copy}
              // Not a tooltip of Mantine's: it would be 26 kB of the board's first load where there is no todo yet.
              title={copied ? 'Copied' : 'Copy'}
              aria-label={copied ? `Copied: ${label}` : `Copy: ${label}`}
            >
              {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
            </ActionIcon>
          )}
        </CopyButton>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so a keyboard must reach it. */}
      <section className={styles.code} tabIndex={0} aria-label={label}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
    </div>
  )
}
