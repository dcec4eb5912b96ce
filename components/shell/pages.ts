import { IconHome } from '@tabler/icons-react'

/** The pages there are, in the rail's order. */
export const PAGES = [{ href: '/', label: 'Home', Icon: IconHome }] as const
