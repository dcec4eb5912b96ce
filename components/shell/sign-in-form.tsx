'use client'

import { Alert, Button, PasswordInput, TextInput } from '@mantine/core'
import { type FormEvent, useRef, useState } from 'react'
import styles from './frame.module.css'
import { signInWith } from './sign-in'

/** Signs somebody in and goes to `next`, a path of our own. */
export function SignInForm({ next }: { next: string }) {
  const [error, setError] = useState<string | null>(null)
  const [isSending, setSending] = useState(false)
  const password = useRef<HTMLInputElement>(null)

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    if (isSending) return
    // Out of the form, not out of state: a browser may have filled it in before the page came to life.
    const typed = new FormData(event.currentTarget)
    setSending(true)
    setError(null)
    const wrong = await signInWith(String(typed.get('email')).trim(), String(typed.get('password')))
    if (wrong === null) return window.location.assign(next)
    setError(wrong)
    setSending(false)
    password.current?.select()
  }

  // Sent before the page came to life it must not go anywhere with a password in its address: `dialog` goes nowhere.
  return (
    <form className={styles.fields} method="dialog" onSubmit={submit} aria-label="Sign in">
      <TextInput
        label="E-mail"
        name="email"
        type="email"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
        withAsterisk={false}
        autoFocus
      />
      <PasswordInput
        ref={password}
        label="Password"
        name="password"
        autoComplete="current-password"
        required
        withAsterisk={false}
        visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password' }}
      />
      {error && (
        <Alert color="red" variant="light" role="alert">
          {error}
        </Alert>
      )}
      <Button type="submit" fullWidth loading={isSending}>
        Sign in
      </Button>
    </form>
  )
}
