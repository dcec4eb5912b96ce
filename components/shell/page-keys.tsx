'use client'

import type { Role } from '#lib/wire/caller'
import { pagesFor } from './pages'
import { Shortcuts } from './shortcuts'

/** The keys that lead to the pages of this role. */
export const PageKeys = ({ role }: { role: Role }) => <Shortcuts pages={pagesFor(role)} />
