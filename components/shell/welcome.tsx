import Link from 'next/link'
import type { Role } from '#lib/wire/caller'
import styles from './frame.module.css'
import { WelcomeForm } from './welcome-form'

const MAY: Record<Role, string> = {
  viewer: 'You will see everything and change nothing.',
  responder: 'You will see everything and answer what agents ask.',
  operator: 'You will answer what agents ask, and cancel and requeue their todos.',
  admin: 'You will be an admin: settings and people are yours, besides answering and everything else.',
}

/** Makes a person of somebody invited; without a role the invitation no longer counts. */
export function Welcome({ token, role }: { token: string; role: Role | null }) {
  if (role === null) {
    return (
      <section className={styles.card}>
        <h1 className={styles.title}>This invitation is over</h1>
        <p className={styles.lead}>
          It has been used, has expired, or a newer one took its place. If you have an account, sign in with it;
          otherwise ask for another invitation. The first admin’s is printed anew at every start.
        </p>
        <Link href="/sign-in">Go to the sign-in</Link>
      </section>
    )
  }
  return (
    <section className={styles.card}>
      <h1 className={styles.title}>Welcome to Switchboard</h1>
      <p className={styles.lead}>{MAY[role]} The link works once.</p>
      <WelcomeForm token={token} />
    </section>
  )
}
