import fc from 'fast-check'
import { expect, test } from 'vitest'
import { covers, cursorOf, isTold, type Mark, marked, markIn } from '#lib/live/cursor'

const AT = '2026-11-30T21:58:27.123Z'

/** Marks that follow each other when events are told in this order. */
function marksOf(ids: readonly number[]): Mark[] {
  const marks: Mark[] = [{ last: 0, at: null, holes: [] }]
  for (const id of ids) marks.push(marked(marks.at(-1) as Mark, { id, at: AT }))
  return marks
}

const order = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 25 })

test('a cursor holds what has been told, late events included', () => {
  fc.assert(
    fc.property(order, (ids) => {
      const mark = marksOf(ids).at(-1) as Mark
      const told = new Set(ids)
      const read = markIn(cursorOf(mark))
      if (mark.holes.length > 24) return expect(read).toBeNull()
      expect(read).toEqual(mark)
      for (let id = 1; id <= 60; id++) expect(isTold(mark, id)).toBe(told.has(id))
    }),
  )
})

test('cursors grow in the order in which events are told', () => {
  fc.assert(
    fc.property(order, (ids) => {
      const cursors = marksOf(ids).map(cursorOf)
      expect(cursors).toEqual([...cursors].sort())
      expect(new Set(cursors).size).toBe(cursors.length)
    }),
  )
})

test('one mark covers another when everything told there has been told here', () => {
  fc.assert(
    fc.property(order, order, (ids, others) => {
      const [mark, told] = [marksOf(ids).at(-1) as Mark, marksOf(others).at(-1) as Mark]
      if (!covers(mark, told)) return
      for (const id of others) expect(isTold(mark, id)).toBe(true)
    }),
  )
  const marks = marksOf([1, 4, 2, 3])
  expect(marks.every((mark) => covers(marks.at(-1) as Mark, mark))).toBe(true)
})

test('text that is no cursor is told apart, whatever it is', () => {
  const whole = cursorOf({ last: 77, at: AT, holes: [{ first: 3, last: 5 }] })
  expect(markIn(whole)).not.toBeNull()
  for (const text of [
    '',
    '1',
    '77',
    `${whole}x`,
    whole.slice(0, -1),
    whole.toUpperCase(),
    ` ${whole}`,
    'f'.repeat(99999),
  ])
    expect(markIn(text)).toBeNull()
  fc.assert(fc.property(fc.string(), (text) => markIn(text) === null))
})
