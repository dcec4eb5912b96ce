import { Kbd, Modal } from '@mantine/core'
import type { PageKey } from './page-key'
import styles from './shortcut-sheet.module.css'

const ANYWHERE = [
  ['/', 'Search'],
  ['?', 'This list'],
  ['Esc', 'Close what is open'],
] as const

const BOARD = [
  ['j', 'Next card'],
  ['k', 'Previous card'],
  ['l', 'Column to the right'],
  ['h', 'Column to the left'],
  ['Enter', 'Open the card'],
] as const

/** All keys there are. */
export default function ShortcutSheet({ pages, onClose }: { pages: readonly PageKey[]; onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="Keys" closeButtonProps={{ 'aria-label': 'Close the list of keys' }}>
      <Section
        title="Everywhere"
        keys={[...ANYWHERE, ...pages.map(({ key, label }) => [`g ${key}`, label] as const)]}
      />
      <Section title="On the board" keys={BOARD} />
      <p className={styles.note}>None of them works while you type in a field.</p>
    </Modal>
  )
}

function Section({ title, keys }: { title: string; keys: readonly (readonly [string, string])[] }) {
  return (
    <section>
      <h3 className={styles.title}>{title}</h3>
      <dl className={styles.keys}>
        {keys.map(([key, what]) => (
          <div key={key} className={styles.row}>
            <dt>
              {key.split(' ').map((one) => (
                <Kbd key={one} size="sm">
                  {one}
                </Kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
