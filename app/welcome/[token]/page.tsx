import { PlainFrame } from '#components/shell/plain-frame'
import { Welcome } from '#components/shell/welcome'
import { processCore } from '#lib/api/core'
import { findInvitation } from '#lib/auth/invitations'

export const metadata = { title: 'Welcome' }

export default async function WelcomePage({ params }: { params: Promise<{ token: string }> }) {
  const { token } = await params
  const { database } = await processCore(process.env.DATABASE_URL ?? '')
  const invitation = await findInvitation(database, token)
  return (
    <PlainFrame>
      <Welcome token={token} role={invitation?.role ?? null} />
    </PlainFrame>
  )
}
