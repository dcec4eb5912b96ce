import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { advance, type Look, type Position } from '#lib/live/position'

const look = (ids: number[], said: Partial<Look> = {}): Look => ({
  ids,
  xmin: 100,
  nextXid: 110,
  isWhole: true,
  at: 0,
  ...said,
})

const reached = (...looks: Look[]): Position => looks.reduce(advance, { last: 0, holes: [] })

const missing = ({ holes }: Position) => holes.map(({ first, last }) => [first, last])

describe('a position in the log', () => {
  test('remembers the ids it skipped as runs', () => {
    const position = reached(look([1, 2, 5, 9]))
    expect(position.last).toBe(9)
    expect(missing(position)).toEqual([
      [3, 4],
      [6, 8],
    ])
  })

  test('takes an id that turns up late out of the run it was in', () => {
    expect(missing(reached(look([1, 10]), look([5, 11])))).toEqual([
      [2, 4],
      [6, 9],
    ])
  })

  test('keeps a hole for as long as a transaction that was open when it was found may fill it', () => {
    const found = look([1, 3])
    const settled = look([], { at: 1500, nextXid: 120 })
    expect(missing(reached(found, settled))).toEqual([[2, 2]])
    expect(missing(reached(found, settled, look([], { at: 9000, xmin: 119 })))).toEqual([[2, 2]])
    expect(missing(reached(found, settled, look([], { at: 9000, xmin: 120 })))).toEqual([])
  })

  test('does not trust a hole younger than a second, whose transaction may have no xid yet', () => {
    const young = reached(
      look([1, 3], { xmin: 110 }),
      look([], { at: 900, xmin: 110 }),
      look([], { at: 950, xmin: 500 }),
    )
    expect(missing(young)).toEqual([[2, 2]])
  })

  test('gives up no hole by a look that stopped at its limit', () => {
    const bounded = reached(look([1, 3]), look([], { at: 1500 }))
    expect(missing(advance(bounded, look([4], { at: 9000, xmin: 500, isWhole: false })))).toEqual([[2, 2]])
  })

  test('in whatever order ids appear, all of them are either read or missing, and none is both', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(Array.from({ length: 20 }, (_, index) => index + 1)), fc.nat(4), (ids, size) => {
        const looks: Look[] = []
        for (let at = 0; at < ids.length; at += size + 1) {
          looks.push(look(ids.slice(at, at + size + 1).sort((a, b) => a - b)))
        }
        const { last, holes } = reached(...looks)
        const open = holes.flatMap((hole) => range(hole.first, hole.last))
        expect([...ids, ...open].sort((a, b) => a - b)).toEqual(range(1, last))
      }),
    )
  })
})

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)
