import { INTERRUPTS } from '#lib/model/states'
import { type Counted, sum, type Tally } from './counts'
import { countsOf } from './todos'

/** How many questions are open: each is the one its todo waits for. */
export const openCount = {
  ...countsOf({}),
  select: ({ counts }: Tally): Counted => sum(counts, INTERRUPTS),
}
