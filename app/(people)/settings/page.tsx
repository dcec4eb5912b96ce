import { Settings } from '#components/settings/settings'
import { Notice } from '#components/shell/notice'
import { requirePerson } from '#lib/api/require-person'

export const metadata = { title: 'Settings' }

export default async function SettingsPage() {
  const { role } = await requirePerson('/settings')
  if (role === 'admin') return <Settings />
  return (
    <Notice title="Settings are for admins">
      You are signed in as {role}. Settings decide for everybody when work comes back, so only an admin sees and changes
      them.
    </Notice>
  )
}
