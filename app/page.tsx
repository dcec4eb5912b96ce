import { redirect } from 'next/navigation'
import { HOME } from '#lib/api/gate-paths'
import { requirePerson } from '#lib/api/require-person'

export default async function RootPage() {
  await requirePerson()
  redirect(HOME)
}
