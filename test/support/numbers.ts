/** How often a race or a property runs: the first number in `npm test`, the second in `npm run prove`. */
export function times(reduced: number, full: number): number {
  return process.env.SWITCHBOARD_PROVE === '1' ? full : reduced
}
