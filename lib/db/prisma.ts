import { PrismaPg } from '@prisma/adapter-pg'
import type { Database } from './connect'
import { PrismaClient } from './generated/client'

const clients = new WeakMap<Database, PrismaClient>()

/** Prisma's typed client on the same pool, made when first asked for; for plain look-ups. The pool's owner closes both. */
export function prisma(database: Database): PrismaClient {
  const existing = clients.get(database)
  if (existing) return existing
  // The adapter tells a pool by its class, of which a bundle can hold two copies: given ours it would take it for options
  // and open a pool of its own, at an address of its own.
  const adapter = Object.assign(new PrismaPg(database.pool.options), { externalPool: database.pool })
  const client = new PrismaClient({ adapter, log: [] })
  clients.set(database, client)
  return client
}
