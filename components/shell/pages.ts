import { IconActivityHeartbeat, IconAdjustmentsHorizontal, IconInbox, IconLayoutKanban } from '@tabler/icons-react'
import type { Role } from '#lib/wire/caller'

/** A page in the rail. */
export interface Page {
  href: string
  label: string
  /** What leads there after `g`. */
  key: string
  Icon: typeof IconInbox
  /** Only people of this role have it; without one everybody does. */
  role?: Role
  /** Whether it shows how many questions are open. */
  countsPrompts?: true
}

const PAGES: readonly Page[] = [
  { href: '/board', label: 'Board', key: 'b', Icon: IconLayoutKanban },
  { href: '/inbox', label: 'Inbox', key: 'i', Icon: IconInbox, countsPrompts: true },
  { href: '/health', label: 'Health', key: 'h', Icon: IconActivityHeartbeat },
  { href: '/settings', label: 'Settings', key: 's', Icon: IconAdjustmentsHorizontal, role: 'admin' },
]

/** The pages there are for people of a role, in the rail's order. */
export const pagesFor = (role: Role): Page[] => PAGES.filter((page) => page.role === undefined || page.role === role)

/** Whether a path is a page or lies under it. */
export const isUnder = (path: string, { href }: Page): boolean => path === href || path.startsWith(`${href}/`)
