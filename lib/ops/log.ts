import { pino } from 'pino'

/** The process's log: JSON lines on stdout. The level is SWITCHBOARD_LOG_LEVEL (info unless set). */
export const log = pino({ level: process.env.SWITCHBOARD_LOG_LEVEL ?? 'info', base: { pid: process.pid } })
