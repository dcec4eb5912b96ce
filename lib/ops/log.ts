import { pino } from 'pino'
import { LOG_LEVELS } from '#lib/model/environment'

const asked = process.env.SWITCHBOARD_LOG_LEVEL
// A word that is none of them is refused where the environment is read; the refusal still has to be logged.
const level = LOG_LEVELS.find((one) => one === asked) ?? 'info'

/** The process's log: JSON lines on stdout. The level is SWITCHBOARD_LOG_LEVEL (info unless set). */
export const log = pino({ level, base: { pid: process.pid } })
