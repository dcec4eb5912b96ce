import { z } from 'zod'

/** A time on the wire: ISO 8601 UTC with milliseconds. */
export const time = z.iso.datetime().describe('ISO 8601, UTC, milliseconds')

/** A time as a caller may give it: ISO 8601 with a zone, between the years 2000 and 9999; read as UTC, since PostgreSQL refuses zones of 16 hours and more. */
export const givenTime = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text).toISOString())
  .refine((text) => text >= '2000' && !text.startsWith('+'), 'must be between the years 2000 and 9999')

/** An id: a UUID in lower case (version 7 where we make it). */
export const id = z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'must be a UUID in lower case')

/** A queue's or an endpoint's name. */
export const name = z.string().regex(/^[a-z0-9._-]{1,64}$/, 'must be 1 to 64 of a-z, 0-9, dot, underscore, hyphen')

/** Any JSON value, as it is: what is checked comes out of a JSON parser, and a walk would cost 4 µs an object and lose keys named `__proto__`. */
export const json = z.unknown() as z.ZodType<z.core.util.JSONType, z.core.util.JSONType>

/** A caller's mark of a repeat. */
export const requestId = z.string().min(1).max(200).describe("The caller's mark of a repeat")

/** The epoch of a lease, as a worker gives it: one that never was holds nothing. */
export const leaseEpoch = z.int().min(0).describe('The epoch that the claim gave')
