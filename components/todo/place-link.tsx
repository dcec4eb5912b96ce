import { ActionIcon, Tooltip } from '@mantine/core'
import type { IconLink } from '@tabler/icons-react'
import Link from 'next/link'

/** A small button in a todo's head that leads to the same todo in another place. */
export const PlaceLink = ({ href, label, Icon }: { href: string; label: string; Icon: typeof IconLink }) => (
  <Tooltip label={label} withArrow>
    <ActionIcon component={Link} href={href} variant="subtle" color="gray" aria-label={label}>
      <Icon size={17} aria-hidden />
    </ActionIcon>
  </Tooltip>
)
