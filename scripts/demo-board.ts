import { STATE_NAMES, STATES } from '#lib/model/states'
import type { Crewman } from './demo-crew'
import type { View } from './demo-view'
import { heldBy, type Standing } from './demo-watch'
import { seconds } from './progress.mjs'

const BAR = 40

/** What stands below while the demo runs: counts, a bar, the workers, and what it waits for. */
export interface Board {
  standing: Standing
  crew: readonly Crewman[]
  beganAt: number
  /** What people should know now, such as that Switchboard is away. */
  note: string
}

/** The board as lines; the first says it all in one. */
export function boardLines({ standing, crew, beganAt, note }: Board, paint: View['paint']): string[] {
  const { counts, total } = standing
  const done = counts.completed ?? 0
  const filled = Math.round((BAR * done) / Math.max(total, 1))
  const bar = `${paint('green', '█'.repeat(filled))}${paint('dim', '░'.repeat(BAR - filled))}`
  const time = seconds(performance.now() - beganAt)
  return [
    `  ${countsLine(standing)}${note ? `   ${note}` : ''}`,
    `  ${bar} ${String(Math.floor((100 * done) / Math.max(total, 1))).padStart(3)} %   ${paint('dim', time)}`,
    ...crew.map((crewman) => `  ${crewLine(crewman, standing, paint)}`),
  ]
}

function countsLine({ counts, total }: Standing): string {
  const shown = STATE_NAMES.filter((state) => counts[state] || state === 'completed')
  return shown
    .map((state) => `${STATES[state].label} ${counts[state] ?? 0}${state === 'completed' ? ` of ${total}` : ''}`)
    .join('   ')
}

const IDLE = { starting: 'starts', working: 'waits', killed: 'killed', ended: 'ended' }

function crewLine(crewman: Crewman, standing: Standing, paint: View['paint']): string {
  const held = heldBy(standing, crewman)
  const titles = held.map(({ title, state }) => (state === 'claimed' ? title : `${title} (asks)`)).join(', ')
  const does = crewman.state === 'killed' && titles ? `killed; still holds ${titles}` : titles
  const sign = crewman.isAlive ? paint('green', '●') : paint('red', '✗')
  return `${sign} ${crewman.name}   ${paint('dim', does || IDLE[crewman.state])}`
}
