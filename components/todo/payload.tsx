'use client'

import { Button } from '@mantine/core'
import { IconCopy, IconDownload } from '@tabler/icons-react'
import { useMemo } from 'react'
import { JsonView } from 'react-json-view-lite'
import type { Todo } from '#lib/wire/todo'
import { copyText } from '../shell/copy-text'
import { toast } from '../shell/toast'
import { Heading } from './heading'
import styles from './payload.module.css'
import { masked, showable, sizeOf } from './tree'

const PARTS = [
  { name: 'payload', label: 'Payload', none: 'It was enqueued without a payload.' },
  { name: 'result', label: 'Result', none: 'There is no result yet.' },
  { name: 'error', label: 'Error', none: null },
  { name: 'checkpoint', label: 'Checkpoint', none: null },
  { name: 'progress', label: 'Progress', none: null },
] as const

const STYLE = {
  container: styles.json ?? '',
  basicChildStyle: styles.child ?? '',
  label: styles.key ?? '',
  clickableLabel: styles.openableKey ?? '',
  nullValue: styles.none ?? '',
  undefinedValue: styles.none ?? '',
  stringValue: styles.text ?? '',
  booleanValue: styles.figure ?? '',
  numberValue: styles.figure ?? '',
  otherValue: styles.figure ?? '',
  punctuation: styles.punctuation ?? '',
  expandIcon: styles.expand ?? '',
  collapseIcon: styles.collapse ?? '',
  collapsedContent: styles.collapsed ?? '',
  childFieldsContainer: styles.children ?? '',
  noQuotesForStringValues: false,
  quotesForFieldNames: false,
  stringifyStringValues: true,
  ariaLables: { collapseJson: 'Collapse', expandJson: 'Expand' },
}

/** What a todo was given and what came of it, each as a tree that opens on demand. */
export default function Payload({ todo }: { todo: Todo }) {
  return (
    <div className={styles.parts}>
      {PARTS.map(({ name, label, none }) => {
        const value = todo[name]
        if (value === null && none === null) return null
        return (
          <section key={name} aria-label={label}>
            {value === null ? (
              <>
                <Heading below={1} className={styles.label}>
                  {label}
                </Heading>
                <p className={styles.nothing}>{none}</p>
              </>
            ) : (
              <Part label={label} name={`${name}-${todo.id}`} value={value} />
            )}
          </section>
        )
      })}
    </div>
  )
}

function Part({ label, name, value }: { label: string; name: string; value: unknown }) {
  const tree = useMemo(() => showable(value), [value])
  const size = useMemo(() => sizeOf(value), [value])
  const text = () => JSON.stringify(masked(value), null, 2)

  async function copy(): Promise<void> {
    const isCopied = await copyText(text())
    void toast(
      isCopied
        ? { title: `${label} copied`, tone: 'good' }
        : { title: 'The browser did not let it be copied', tone: 'bad' },
    )
  }

  return (
    <>
      <header className={styles.head}>
        <Heading below={1} className={styles.label}>
          {label}
        </Heading>
        <span className={styles.size}>{size}</span>
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          leftSection={<IconCopy size={13} aria-hidden />}
          onClick={() => void copy()}
        >
          Copy
        </Button>
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          leftSection={<IconDownload size={13} aria-hidden />}
          onClick={() => download(`${name}.json`, text())}
        >
          Download
        </Button>
      </header>
      {typeof tree === 'object' && tree !== null ? (
        <JsonView
          data={tree}
          style={STYLE}
          shouldExpandNode={(level) => level < 1}
          clickToExpandNode
          aria-label={label}
        />
      ) : (
        <pre className={styles.scalar}>{typeof tree === 'string' ? tree : JSON.stringify(tree)}</pre>
      )}
    </>
  )
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url))
}
