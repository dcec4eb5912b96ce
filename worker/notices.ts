/** Something that goes on for a while and is said when it begins, changes or ends, not at every tick. */
export interface Notice {
  topic: string
  /** What is the matter, or null when nothing is. */
  matter: string | null
  begins: () => void
  /** Nothing is the matter any more. */
  ends?: () => void
}

/** Takes notices and says only what is new about each topic. */
export function createNotices(): (notice: Notice) => void {
  const known = new Map<string, string>()
  return ({ topic, matter, begins, ends }) => {
    const before = known.get(topic) ?? null
    if (before === matter) return
    if (matter === null) {
      known.delete(topic)
      ends?.()
    } else {
      known.set(topic, matter)
      begins()
    }
  }
}
