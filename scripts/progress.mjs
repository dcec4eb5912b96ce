/**
 * @typedef {object} Progress what the terminal shows of a start
 * @property {<T>(label: string, work: (tell: (detail: string) => void) => Promise<T>) => Promise<T>} step runs one step;
 *   `tell` says what it is about or came to
 * @property {(line: string) => void} line writes a line of its own, above a step that is under way
 */

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 }

const TICK_MS = 1000
const SLOW_MS = 2000
const BRIEF_MS = 50

/** Shows steps on a terminal as one line each that is renewed in place, elsewhere as plain lines.
 * @param {NodeJS.WriteStream} [out] @returns {Progress} */
export function createProgress(out = process.stdout) {
  const paint = painter(out)
  const isLive = Boolean(out.isTTY) && !process.env.CI && process.env.TERM !== 'dumb'
  /** @type {(() => void) | null} */
  let redraw = null
  const line = (/** @type {string} */ text) => {
    if (redraw) out.write('\r\x1b[2K')
    out.write(`${text}\n`)
    redraw?.()
  }

  /** @type {Progress['step']} */
  async function step(label, work) {
    const began = performance.now()
    let detail = ''
    const show = (/** @type {string} */ sign, /** @type {boolean} */ isDone) => {
      const took = performance.now() - began
      const time = (isDone ? took > BRIEF_MS : isLive && took > SLOW_MS) ? seconds(took) : ''
      const about = detail.slice(0, (out.columns || 120) - 32)
      return `  ${sign} ${label.padEnd(14)}${paint('dim', `${about}${about && time ? '  ' : ''}${time}`)}`.trimEnd()
    }
    if (isLive) redraw = () => out.write(`\r\x1b[2K${show(paint('cyan', '·'), false)}`)
    const ticker = setInterval(() => redraw?.(), TICK_MS)
    const patience = isLive ? null : setTimeout(() => line(show('·', false)), SLOW_MS)
    redraw?.()
    const finish = (/** @type {string} */ sign) => {
      clearInterval(ticker)
      if (patience) clearTimeout(patience)
      redraw = null
      if (isLive) out.write('\r\x1b[2K')
      line(show(sign, true))
    }
    try {
      const result = await work((text) => {
        detail = text
        redraw?.()
      })
      finish(paint('green', '✓'))
      return result
    } catch (error) {
      detail = ''
      finish(paint('red', '✗'))
      throw error
    } finally {
      redraw = null
    }
  }

  return { step, line }
}

/** Colours text where the stream shows colours and nobody asked for none.
 * @param {NodeJS.WriteStream} out @returns {(style: keyof typeof CODES, text: string) => string} */
export function painter(out) {
  const hasColours = Boolean(out.isTTY) && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
  return (style, text) => (hasColours && text ? `\x1b[${CODES[style]}m${text}\x1b[0m` : text)
}

/** A duration as people read it: 0.4 s, 12 s, 2 min 5 s.
 * @param {number} milliseconds */
export function seconds(milliseconds) {
  const total = milliseconds / 1000
  if (total < 10) return `${total.toFixed(1)} s`
  if (total < 60) return `${Math.round(total)} s`
  return `${Math.floor(total / 60)} min ${Math.round(total % 60)} s`
}
