import type { Todo } from '#lib/wire/todo'

/** Something a worker has to say. */
export interface LogLine {
  level: 'info' | 'warn' | 'error'
  message: string
  /** The todo it is about. */
  todo?: Pick<Todo, 'id' | 'queue' | 'title'>
  error?: unknown
}

/** Hears what a worker has to say. */
export type Log = (line: LogLine) => void

/** Writes warnings and errors on the console, one line each, where nobody gave a log. */
export const consoleLog: Log = ({ level, message, todo, error }) => {
  if (level === 'info') return
  const about = todo ? ` (${todo.queue}: ${todo.title}, ${todo.id})` : ''
  const why = error === undefined ? '' : `: ${error instanceof Error ? error.message : String(error)}`
  // biome-ignore lint/suspicious/noConsole: a worker without a log must not fail in silence
  console.warn(`switchboard ${level}: ${message}${about}${why}`)
}
