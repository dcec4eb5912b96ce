import { painter } from './progress.mjs'

/** What the demo shows: lines that stay, and under them, on a terminal, a few that are renewed. */
export interface View {
  /** Writes a line that stays. */
  line(text: string): void
  /** Renews what stands below; elsewhere than on a terminal its first line is written now and then, when it has changed. */
  status(lines: string[]): void
  /** Takes the renewed lines away until the next `status`. */
  clear(): void
  /** Leaves the stream to somebody else; what is said meanwhile comes with `resume`. */
  hold(): void
  resume(): void
  paint: ReturnType<typeof painter>
}

const PLAIN_EVERY_MS = 2000

/** A view on a stream: live on a terminal, plain lines otherwise. */
export function createView(out: NodeJS.WriteStream = process.stdout): View {
  const isLive = Boolean(out.isTTY) && !process.env.CI && process.env.TERM !== 'dumb'
  let shown: string[] = []
  let said: string[] | null = null
  let written = { text: '', at: Number.NEGATIVE_INFINITY }

  const erase = () => {
    if (shown.length > 0) out.write(`\x1b[${shown.length}A\r\x1b[J`)
    shown = []
  }
  const draw = (lines: string[]) => {
    erase()
    shown = lines.map((line) => cut(line, out.columns || 80))
    out.write(shown.map((line) => `${line}\n`).join(''))
  }
  const plain = ([text = '']: string[]) => {
    const now = performance.now()
    if (text === written.text || now - written.at < PLAIN_EVERY_MS) return
    written = { text, at: now }
    out.write(`${text}\n`)
  }

  const line = (text: string) => {
    if (said) return void said.push(text)
    const below = shown
    erase()
    out.write(`${text}\n`)
    if (below.length > 0) draw(below)
  }

  return {
    line,
    status: (lines) => {
      if (said) return
      if (isLive) draw(lines)
      else plain(lines)
    },
    clear: erase,
    hold: () => {
      erase()
      said ??= []
    },
    resume: () => {
      const missed = said ?? []
      said = null
      for (const text of missed) line(text)
    },
    paint: painter(out),
  }
}

// A line that wraps would be two, and the next renewal would leave one behind. Colours take no room.
function cut(line: string, columns: number): string {
  let room = columns - 1
  // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape begins with one
  return line.replace(/\x1b\[\d+m|[^\x1b]/gu, (part) => (part.length > 2 || room-- > 0 ? part : ''))
}
