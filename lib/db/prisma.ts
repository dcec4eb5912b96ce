import { PrismaPg } from '@prisma/adapter-pg'
import type { Database } from './connect'
import { PrismaClient } from './generated/client'

const clients = new WeakMap<Database, PrismaClient>()

/** Prisma's typed client on the same pool, made when first asked for; for plain look-ups. The pool's owner closes both. */
export function prisma(database: Database): PrismaClient {
  const existing = clients.get(database)
  if (existing) return existing
  const client = new PrismaClient({ adapter: new PrismaPg(database.pool), log: [] })
  clients.set(database, client)
  return client
}
