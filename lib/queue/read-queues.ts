import type { Db } from '#lib/db/connect'
import { prisma } from '#lib/db/prisma'
import type { Caller } from '#lib/wire/caller'

/** A queue's settings; null means that the endpoint's or the setting's value counts. */
export interface Queue {
  name: string
  paused: boolean
  max_claimed: number | null
  default_lease_seconds: number | null
  max_attempts: number | null
  description: string | null
}

/** The queues that the caller may see, by name. */
export function listQueues(db: Db, caller: Caller): Promise<Queue[]> {
  return prisma(db.root).queues.findMany({
    where: caller.queues ? { name: { in: [...caller.queues] } } : {},
    orderBy: { name: 'asc' },
    select: {
      name: true,
      paused: true,
      max_claimed: true,
      default_lease_seconds: true,
      max_attempts: true,
      description: true,
    },
  })
}
