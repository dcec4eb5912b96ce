const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A span of time in its two largest units: 41 s, 12 m, 3 h 12 m, 5 d 3 h. */
export function timeSpan(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  if (whole < MINUTE) return `${whole} s`
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} m`
  if (whole < 2 * DAY) return pair([whole, HOUR, 'h'], [MINUTE, 'm'])
  return pair([whole, DAY, 'd'], [HOUR, 'h'])
}

/** The same in its largest unit alone, where there is little room. */
export function roughly(seconds: number): string {
  const [first, unit] = timeSpan(seconds).split(' ')
  return `${first} ${unit}`
}

/** The same for what is about to end: to the second in its last ten minutes. */
export function timeLeft(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  return whole >= MINUTE && whole < 10 * MINUTE ? pair([whole, MINUTE, 'm'], [1, 's']) : timeSpan(whole)
}

function pair([whole, large, largeName]: [number, number, string], [small, smallName]: [number, string]): string {
  const rest = Math.floor((whole % large) / small)
  return rest === 0
    ? `${Math.floor(whole / large)} ${largeName}`
    : `${Math.floor(whole / large)} ${largeName} ${rest} ${smallName}`
}
