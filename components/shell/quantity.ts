import type { Setting } from '#lib/model/settings'

const UNITS = [
  { name: 'd', seconds: 86_400 },
  { name: 'h', seconds: 3600 },
  { name: 'min', seconds: 60 },
] as const

/** Whole seconds as people read them, in the largest unit that says them exactly: 90 s, 5 min, 24 h, 30 d. */
function duration(seconds: number): string {
  // A day is said in hours: "24 h" can't be taken for a calendar day.
  const unit = UNITS.find((one) => seconds % one.seconds === 0 && seconds / one.seconds >= (one.name === 'd' ? 2 : 1))
  return unit ? `${seconds / unit.seconds} ${unit.name}` : `${seconds} s`
}

/** A setting's value in force, with its unit; what is off says so. */
export function quantity(setting: Setting, value: number): string {
  if (setting.off && value <= 0) return 'off'
  return setting.unit === 'seconds' ? duration(value) : String(value)
}
