import { expect, test } from 'vitest'
import { sources } from '../support/sources'

const pages = sources(['app/(people)']).filter(({ path }) => /\/(?:page|layout)\.tsx$/.test(path))

test('every page of people asks who visits before anything else, and so does their layout', () => {
  const open = pages.filter(({ text }) => !/\{\n\s+(?:const \{[^}]*\} = )?await (?:requirePerson|gate)\(/.test(text))
  expect(open.map(({ path }) => path)).toEqual([])
  expect(pages).not.toEqual([])
})

test('nothing is sent of a page before it is known who visits, and no page acts by itself', () => {
  const early = sources(['app']).filter(({ path }) => /\/loading\.tsx$/.test(path))
  const acting = sources(['app', 'components']).filter(({ text }) => /^\s*['"]use server['"]/m.test(text))
  expect([...early, ...acting].map(({ path }) => path)).toEqual([])
})
