import { expect, test } from 'vitest'
import { createRation } from '../../components/board/ration'

test('at most so many begin within the stretch, and later ones again', () => {
  const ration = createRation({ most: 2, ms: 100 })
  expect([0, 10, 20, 99].map((now) => ration.begin(now))).toEqual([true, true, false, false])
  expect([100, 105, 110].map((now) => ration.begin(now))).toEqual([true, false, true])
})
