import { closeSync, copyFileSync, fstatSync, openSync, renameSync, statSync, truncateSync, writeSync } from 'node:fs'

const MAX_BYTES = 5 * 1024 * 1024
const MAX_LINE = 256 * 1024
const WARNING = 40
const ERROR = 50

/** @typedef {{ write: (text: string) => void, close: () => void }} Log */

/** Opens a log file for appending; at 5 MB it is put aside as `.1`, over the one before.
 * @param {string} path @param {number} [maxBytes] @returns {Log} */
export function openLog(path, maxBytes = MAX_BYTES) {
  let fd = openSync(path, 'a', 0o600)
  let size = fstatSync(fd).size
  const turn = () => {
    closeSync(fd)
    renameSync(path, `${path}.1`)
    fd = openSync(path, 'a', 0o600)
    size = 0
  }
  return {
    write: (text) => {
      if (size > maxBytes) turn()
      size += writeSync(fd, text)
    },
    close: () => closeSync(fd),
  }
}

/** Does the same for a file that another program holds open for appending: its text is copied and cut, not renamed.
 * @param {string} path @param {number} [maxBytes] */
export function boundLog(path, maxBytes = MAX_BYTES) {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= maxBytes) return
  copyFileSync(path, `${path}.1`)
  truncateSync(path)
}

/** Calls `take` with every whole line of a stream. A line without end is cut rather than kept in memory.
 * @param {import('node:stream').Readable} stream @param {(line: string) => void} take */
export function eachLine(stream, take) {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (/** @type {string} */ chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(line)
    if (rest.length > MAX_LINE) {
      take(rest)
      rest = ''
    }
  })
  stream.on('end', () => rest && take(rest))
}

/** What a terminal shows of a process's log line: its warnings and errors, and what is no log line but was said on
 * stderr; null for all else.
 * @param {string} line @param {{ name: string, isStderr: boolean }} from
 * @returns {{ level: 'warning' | 'error', text: string } | null} */
export function readable(line, { name, isStderr }) {
  const entry = parse(line)
  if (!entry) return isStderr && line.trim() ? { level: 'error', text: `${name}: ${line}` } : null
  if (entry.level < WARNING) return null
  const time = new Date(Number(entry.time) || Date.now()).toTimeString().slice(0, 8)
  const cause = entry.err?.message && entry.err.message !== entry.msg ? entry.err.message : ''
  const said = [entry.msg, cause].filter(Boolean).join(': ')
  return { level: entry.level >= ERROR ? 'error' : 'warning', text: `${time} ${name}: ${said}` }
}

/** @param {string} line @returns {{ level: number, time?: unknown, msg?: string, err?: { message?: string } } | null} */
function parse(line) {
  if (!line.startsWith('{')) return null
  try {
    const entry = JSON.parse(line)
    return typeof entry.level === 'number' ? entry : null
  } catch {
    return null
  }
}
