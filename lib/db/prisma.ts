import { PrismaPg } from '@prisma/adapter-pg'
import type { Database } from './connect'
import { PrismaClient } from './generated/client'
const clients = new WeakMap<Database, PrismaClient>()
export function prisma(database: Database): PrismaClient {
  const known = clients.get(database)
  if (known) return known
  const made = new PrismaClient({ adapter: new PrismaPg(database.pool) })
  clients.set(database, made)
  return made
}
