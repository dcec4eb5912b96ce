import { redirect } from 'next/navigation'
import { PlainFrame } from '#components/shell/plain-frame'
import { SignIn } from '#components/shell/sign-in-card'
import { HOME } from '#lib/api/gate-paths'
import { visitor } from '#lib/api/require-person'
import { localPath } from '#lib/wire/local-path'

export const metadata = { title: 'Sign in' }

export default async function SignInPage({ searchParams }: { searchParams: Promise<{ next?: string | string[] }> }) {
  const next = localPath((await searchParams).next) ?? HOME
  if (await visitor()) redirect(next)
  return (
    <PlainFrame>
      <SignIn next={next} isSentHere={next !== HOME} />
    </PlainFrame>
  )
}
