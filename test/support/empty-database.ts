import { afterAll, beforeAll } from 'vitest'
import { type Scratch, scratch } from './scratch'

/** A database without any table, for tests of the migrations themselves; made before the file and dropped after it. */
export function emptyDatabase(): Pick<Scratch, 'url' | 'session'> {
  const { create, drop, ...database } = scratch('empty')
  beforeAll(create)
  afterAll(drop)
  return database
}
