import '@mantine/notifications/styles.layer.css'
import type { ReactNode } from 'react'
import { Frame } from '#components/shell/frame'
import { LiveData } from '#components/shell/live-data'
import { visitor } from '#lib/api/require-person'
import { version } from '../../package.json'

export default async function PeopleLayout({ children }: { children: ReactNode }) {
  const person = await visitor()
  // Only the page knows its own address, and sends a stranger to the sign-in with it.
  if (!person) return children
  const { name, role } = person
  return (
    <LiveData>
      <Frame person={{ name, role }} version={version}>
        {children}
      </Frame>
    </LiveData>
  )
}
