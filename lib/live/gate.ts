/** Lets so many at once do something; the others wait for their turn. */
export function createGate(most: number): <Result>(act: () => Promise<Result>) => Promise<Result> {
  let inside = 0
  const queue: (() => void)[] = []
  return async (act) => {
    // Whoever leaves hands the place over, so that nobody slips in between.
    if (inside >= most) await new Promise<void>((resolve) => queue.push(resolve))
    else inside += 1
    try {
      return await act()
    } finally {
      const next = queue.shift()
      if (next) next()
      else inside -= 1
    }
  }
}
