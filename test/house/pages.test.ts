import { expect, test } from 'vitest'
import { sources } from '../support/sources'

const people = sources(['app/(people)'])
const pages = people.filter(({ path }) => path.endsWith('/page.tsx'))

test('every page of people asks who visits before anything else, and their layout tells a stranger nothing', () => {
  const open = pages.filter(({ text }) => !/\{\n\s+(?:const \{[^}]*\} = )?await (?:requirePerson|gate)\(/.test(text))
  expect(open.map(({ path }) => path)).toEqual([])
  expect(pages).not.toEqual([])
  const layouts = people.filter(({ path }) => path.endsWith('/layout.tsx'))
  for (const { text } of layouts) {
    expect(text).toMatch(/\{\n\s+const person = await visitor\(\)\n(?:\s+\/\/.*\n)?\s+if \(!person\) return children\n/)
  }
  expect(layouts).toHaveLength(1)
})

test('nothing is sent of a page before it is known who visits, and no page acts by itself', () => {
  const early = sources(['app']).filter(({ path }) => /\/loading\.tsx$/.test(path))
  const acting = sources(['app', 'components']).filter(({ text }) => /^\s*['"]use server['"]/m.test(text))
  expect([...early, ...acting].map(({ path }) => path)).toEqual([])
})
