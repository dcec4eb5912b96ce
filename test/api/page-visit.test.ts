import type { IncomingHttpHeaders } from 'node:http'
import { expect, test } from 'vitest'
import { isLetIn, letIn } from '#lib/api/page-visit'

const asNextSees = (headers: IncomingHttpHeaders) => new Headers(headers as Record<string, string>)

test('a visitor whom the web process let in may see the pages', () => {
  const headers: IncomingHttpHeaders = { host: 'localhost' }
  letIn(headers)
  expect(isLetIn(asNextSees(headers))).toBe(true)
})

test('nobody gets in without the mark, or with one of their own', () => {
  expect(isLetIn(asNextSees({}))).toBe(false)
  expect(isLetIn(asNextSees({ 'x-switchboard-visit': '' }))).toBe(false)
  expect(isLetIn(asNextSees({ 'x-switchboard-visit': 'true' }))).toBe(false)
})

test('what a visitor sends as the mark is overwritten', () => {
  const headers: IncomingHttpHeaders = { 'x-switchboard-visit': 'mine' }
  letIn(headers)
  expect(headers['x-switchboard-visit']).not.toBe('mine')
})
