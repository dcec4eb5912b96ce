import { Fragment } from 'react'
import styles from './untrusted.module.css'

// Whatever controls, changes direction or cannot be seen, but newline, tab, the joiners that scripts and emoji need, and
// the few format characters that are drawn.
const HIDDEN = /(?!\n|\t|\u200c|\u200d|[\u0600-\u0605]|\u06dd)[\p{Cc}\p{Cf}\u2028\u2029]/u
const EACH = new RegExp(HIDDEN, 'gu')

const NAMES: Record<string, string> = {
  '\u202a': 'left-to-right embedding',
  '\u202b': 'right-to-left embedding',
  '\u202c': 'end of direction',
  '\u202d': 'left-to-right override',
  '\u202e': 'right-to-left override',
  '\u2066': 'left-to-right isolate',
  '\u2067': 'right-to-left isolate',
  '\u2068': 'first strong isolate',
  '\u2069': 'end of isolate',
  '\u200e': 'left-to-right mark',
  '\u200f': 'right-to-left mark',
  '\u200b': 'zero-width space',
  '\ufeff': 'zero-width no-break space',
}

const codeOf = (character: string) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** A text from an agent, as it is: its direction stays its own, and characters that hide or deceive are shown by number. */
export function Untrusted({ text }: { text: string }) {
  if (!HIDDEN.test(text)) return <bdi>{text}</bdi>
  const characters = text.match(EACH) ?? []
  return (
    <bdi>
      {text.split(EACH).map((part, index) => {
        const hidden = characters[index]
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts have nothing but their place.
          <Fragment key={index}>
            {part}
            {hidden !== undefined && (
              <span className={styles.hidden} title={NAMES[hidden] ?? 'character that cannot be seen'}>
                {codeOf(hidden)}
              </span>
            )}
          </Fragment>
        )
      })}
    </bdi>
  )
}

/** The same text where only plain text can stand, as in a title or a label. */
export const shown = (text: string): string => text.replace(EACH, (character) => `[${codeOf(character)}]`)
