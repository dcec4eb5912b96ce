import '@mantine/notifications/styles.layer.css'
import type { ReactNode } from 'react'
import { Frame } from '#components/shell/frame'
import { LiveData } from '#components/shell/live-data'
import { requirePerson } from '#lib/api/require-person'
import { version } from '../../package.json'

export default async function PeopleLayout({ children }: { children: ReactNode }) {
  const { name, role } = await requirePerson()
  return (
    <LiveData>
      <Frame person={{ name, role }} version={version}>
        {children}
      </Frame>
    </LiveData>
  )
}
