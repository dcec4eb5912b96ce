import styles from './frame.module.css'
import { SignInForm } from './sign-in-form'

/** The way in; `isSentHere` when somebody followed a link to a page that asks who they are. */
export function SignIn({ next, isSentHere }: { next: string; isSentHere: boolean }) {
  return (
    <>
      <section className={styles.card}>
        <h1 className={styles.title}>Sign in</h1>
        <p className={styles.lead}>
          {isSentHere
            ? 'The page you asked for is only for people who are signed in. You go there next.'
            : 'To see what agents do and answer what they ask.'}
        </p>
        <SignInForm next={next} />
      </section>
      <p className={styles.beside}>
        No account, or the password forgotten? An admin makes one on the machine that Switchboard runs on.
      </p>
    </>
  )
}
