import type { SettingView } from '#lib/wire/setting'

/** A unit that a span of time can be typed in. */
export type Unit = 'seconds' | 'minutes' | 'hours' | 'days'

/** A number as typed, in a unit; without one in the setting's own. */
export interface Amount {
  text: string
  unit: Unit | null
}

const IN_SECONDS: Record<Unit, number> = { seconds: 1, minutes: 60, hours: 3600, days: 86_400 }

/** All units, the smallest first. */
export const UNITS = Object.keys(IN_SECONDS) as Unit[]

/** A value in the largest unit that says it exactly; one day is said in hours, which no calendar stretches. */
export function amountOf(value: number, { unit }: Pick<SettingView, 'unit'>): Amount {
  if (unit !== 'seconds') return { text: String(value), unit: null }
  const fits = (one: Unit) =>
    value !== 0 && value % IN_SECONDS[one] === 0 && (one !== 'days' || value > IN_SECONDS.days)
  const largest = UNITS.findLast(fits) ?? 'seconds'
  return { text: String(value / IN_SECONDS[largest]), unit: largest }
}

/** The text to store for what was typed, or null when it is no whole number in the setting's unit. */
export function storable({ text, unit }: Amount): string | null {
  const typed = text.trim().replace(',', '.')
  if (!/^-?\d{1,15}(\.\d+)?$/.test(typed)) return null
  const value = Number(typed) * (unit ? IN_SECONDS[unit] : 1)
  const whole = Math.round(value)
  // 1.1 hours are 3960 s but for what floating point makes of them.
  return Math.abs(value - whole) < 1e-6 && Number.isSafeInteger(whole) ? String(whole) : null
}

/** A value in words: 24 hours, 90 seconds, 3 attempts, off. */
export function inWords(value: number, setting: Pick<SettingView, 'unit' | 'off'>): string {
  if (setting.off && value <= 0) return 'off'
  const { text, unit } = amountOf(value, setting)
  const name = unit ?? setting.unit
  return `${Number(text).toLocaleString('en')} ${text === '1' ? name.replace(/s$/, '') : name}`
}
