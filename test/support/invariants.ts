import { afterAll, expect } from 'vitest'
import type { Db } from '#lib/db/connect'
import { type Breach, breaches } from '#lib/queue/invariants'

/** What breaks the model's rules in a database at this moment. */
export const invariants = (db: Db): Promise<Breach[]> => breaches(db)

/** Call after `database()` at the top of a test file: whatever its tests did, the model's rules hold afterwards. */
export function keepsInvariants(db: Db): void {
  afterAll(async () => {
    expect(await invariants(db)).toEqual([])
  })
}
