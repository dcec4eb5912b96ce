import { pino } from 'pino'

/** One line of the log. */
export interface Line {
  level: number
  msg: string
  [fact: string]: unknown
}

/** A log like the process's own that keeps its lines. */
export function recordedLog() {
  const lines: Line[] = []
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { log, lines }
}
