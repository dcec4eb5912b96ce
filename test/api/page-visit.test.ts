import type { IncomingHttpHeaders } from 'node:http'
import { expect, test } from 'vitest'
import { tellVisitor, visitorOf } from '#lib/api/page-visit'
import { person } from '../support/callers'

const asNextSees = (headers: IncomingHttpHeaders) => new Headers(headers as Record<string, string>)

const ADA = person('ada', { name: 'Ada Läsö', role: 'admin' })

test('Next is told who visits, as the gate found it', () => {
  const headers: IncomingHttpHeaders = { host: 'localhost' }
  tellVisitor(headers, ADA)
  expect(visitorOf(asNextSees(headers))).toEqual(ADA)
})

test('nobody visits without the mark, or with one of their own', () => {
  const forged = Buffer.from(JSON.stringify(ADA)).toString('base64url')
  for (const mark of [undefined, '', 'true', forged, `.${forged}`, `x.${forged}`]) {
    expect(visitorOf(asNextSees(mark === undefined ? {} : { 'x-switchboard-visit': mark }))).toBeNull()
  }
})

test('what a visitor sends as the mark is overwritten, or taken away', () => {
  const headers: IncomingHttpHeaders = { 'x-switchboard-visit': 'mine' }
  tellVisitor(headers, ADA)
  expect(headers['x-switchboard-visit']).not.toBe('mine')
  tellVisitor(headers, null)
  expect(headers).toEqual({})
})
