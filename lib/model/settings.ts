const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const TEN_YEARS = 3650 * DAY

/** What a setting is: its default, range and words. Reader, API, page and docs derive from it. */
export interface Setting {
  unit: 'seconds' | 'milliseconds' | 'days' | 'rows' | 'attempts'
  default: number
  /** Values that can be in force; a stored value outside is raised or lowered to the nearest. */
  minimum: number
  maximum: number
  /** Zero or less is allowed and means off (never raised to the minimum). */
  off?: boolean
  /** Whose waits it ends: questions held by their worker, or parked ones. A change of it moves todos at the next sweep. */
  ends?: 'held' | 'parked'
  /** What it lets retention delete: ended todos by their age or number, or attempts of any. */
  deletes?: 'aged' | 'surplus' | 'attempts'
  label: string
  description: string
}

const approvalValid = (risk: string, seconds: number) =>
  ({
    unit: 'seconds',
    default: seconds,
    minimum: MINUTE,
    maximum: TEN_YEARS,
    label: `Approvals of ${risk} risk`,
    description: `How long after an approval of ${risk} risk was given its effect may still begin.`,
  }) as const satisfies Setting

/** Every knob there is (table `settings`; a missing row means the default). */
export const SETTINGS = {
  interrupt_lease_ttl_seconds: {
    unit: 'seconds',
    default: DAY,
    minimum: MINUTE,
    maximum: TEN_YEARS,
    off: true,
    ends: 'held',
    label: 'Interrupt deadline',
    description:
      'How long a held question may wait before its todo goes back to the queue. 0 or less turns the sweep off: questions wait for ever. 1 to 59 is raised to 60.',
  },
  parked_interrupt_ttl_seconds: {
    unit: 'seconds',
    default: 0,
    minimum: MINUTE,
    maximum: TEN_YEARS,
    off: true,
    ends: 'parked',
    label: 'Deadline of parked questions',
    description:
      'How long a question that nobody holds may wait before its todo goes back to the queue without an answer. 0 or less turns the sweep off: parked questions wait for ever. 1 to 59 is raised to 60.',
  },
  approval_valid_seconds_low: approvalValid('low', DAY),
  approval_valid_seconds_medium: approvalValid('medium', DAY),
  approval_valid_seconds_high: approvalValid('high', 4 * HOUR),
  approval_valid_seconds_critical: approvalValid('critical', HOUR),
  max_attempts: {
    unit: 'attempts',
    default: 3,
    minimum: 1,
    maximum: 1000,
    label: 'Attempts',
    description:
      'How many unsuccessful executions (failures and lost leases) end a todo. Fixed for a todo when it is enqueued.',
  },
  default_lease_seconds: {
    unit: 'seconds',
    default: 300,
    minimum: MINUTE,
    maximum: DAY,
    label: 'Lease',
    description:
      'How long a claim holds without a heartbeat when neither the request, the endpoint nor the queue says.',
  },
  retention_max_age_days: {
    unit: 'days',
    default: 30,
    minimum: 1,
    maximum: 3650,
    off: true,
    deletes: 'aged',
    label: 'Days kept',
    description:
      'How long a todo that has ended is kept, with its attempts, questions, effects and events. Children stay as long as their parent is live. 0 or less keeps them whatever their age.',
  },
  retention_max_rows: {
    unit: 'rows',
    default: 500_000,
    minimum: 1,
    maximum: 1_000_000_000,
    off: true,
    deletes: 'surplus',
    label: 'Todos kept',
    description:
      'How many todos that have ended are kept; those that ended first go first. 0 or less keeps them however many they are.',
  },
  attempt_history_max_per_todo: {
    unit: 'attempts',
    default: 50,
    minimum: 5,
    maximum: 10_000,
    deletes: 'attempts',
    label: 'Attempts kept',
    description:
      'How many attempts are kept of each todo, live or not; the oldest that have ended go first. Less than 5 is raised to 5.',
  },
  sse_retry_ms: {
    unit: 'milliseconds',
    default: 3000,
    minimum: 500,
    maximum: 60_000,
    label: 'Reconnect after',
    description:
      'How long a lost event stream waits before it connects again. Pages add a random wait, so that they do not all come back at once.',
  },
} as const satisfies Record<string, Setting>

export type SettingKey = keyof typeof SETTINGS

/** The setting that says how long an approval is good for, by the risk of what it approves. */
export const APPROVAL_VALIDITY = {
  low: 'approval_valid_seconds_low',
  medium: 'approval_valid_seconds_medium',
  high: 'approval_valid_seconds_high',
  critical: 'approval_valid_seconds_critical',
} as const satisfies Record<string, SettingKey>

/** A setting as it is in force: its value, and what is wrong with the stored text, if anything. */
export interface Effective {
  value: number
  problem?: string
}

/** Reads a stored text by its setting's rules; unreadable text gives the default and says so. */
export function readSetting(key: SettingKey, stored: string | null | undefined): Effective {
  const setting: Setting = SETTINGS[key]
  if (stored === null || stored === undefined) return { value: setting.default }
  if (!/^-?[0-9]+$/.test(stored)) {
    return { value: setting.default, problem: `"${stored}" is not an integer; the default is in force` }
  }
  const value = Number(stored)
  if (setting.off && value <= 0) return { value: 0 }
  if (value < setting.minimum) return { value: setting.minimum, problem: `raised to ${setting.minimum}` }
  if (value > setting.maximum) return { value: setting.maximum, problem: `lowered to ${setting.maximum}` }
  return { value }
}
