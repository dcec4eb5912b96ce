import { INTERRUPTS } from '#lib/model/states'
import { type Counted, sum } from './counts'
import { countsOf } from './todos'

/** How many questions are open: each is the one its todo waits for. */
export const openCount = {
  ...countsOf({}),
  select: (counts: Parameters<typeof sum>[0]): Counted => sum(counts, INTERRUPTS),
}
