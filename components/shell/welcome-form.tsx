'use client'

import { Alert, Button, PasswordInput, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import styles from './frame.module.css'
import { acceptInvitation, type SignInErrors, signInWith } from './sign-in'

const SHORTEST_PASSWORD = 12

/** Makes the invited person, signs them in and goes to the board; `token` is their invitation's. */
export function WelcomeForm({ token }: { token: string }) {
  const [errors, setErrors] = useState<SignInErrors>({})
  const [isSending, setSending] = useState(false)
  const [isLong, setLong] = useState(false)

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    if (isSending) return
    const form = event.currentTarget
    const typed = readForm(form)
    const wrong = rulesBroken(typed)
    if (wrong) return show(form, wrong)
    setSending(true)
    setErrors({})
    const { again: _, ...person } = typed
    const refused = await acceptInvitation(token, person)
    if (refused) {
      setSending(false)
      return show(form, refused)
    }
    const isIn = (await signInWith(person.email, person.password)) === null
    window.location.assign(isIn ? '/board' : '/sign-in')
  }

  function show(form: HTMLFormElement, wrong: SignInErrors): void {
    setErrors(wrong)
    const first = ['name', 'email', 'password', 'again'].find((name) => wrong[name])
    if (first) form.querySelector<HTMLInputElement>(`[name="${first}"]`)?.focus()
  }

  return (
    <form className={styles.fields} method="dialog" noValidate onSubmit={submit} aria-label="Your account">
      <TextInput
        label="Name"
        description="As others see it beside your answers."
        name="name"
        autoComplete="name"
        maxLength={100}
        error={errors.name}
        autoFocus
      />
      <TextInput
        label="E-mail"
        description="You sign in with it."
        name="email"
        type="email"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        error={errors.email}
      />
      <PasswordInput
        label="Password"
        description={isLong ? 'Long enough.' : `At least ${SHORTEST_PASSWORD} characters; any will do.`}
        name="password"
        autoComplete="new-password"
        maxLength={200}
        error={errors.password}
        onChange={({ currentTarget }) => setLong(currentTarget.value.length >= SHORTEST_PASSWORD)}
        visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password' }}
      />
      <PasswordInput
        label="Password again"
        name="again"
        autoComplete="new-password"
        maxLength={200}
        error={errors.again}
        visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the repeated password' }}
      />
      {(errors[''] ?? errors.token) && (
        <Alert color="red" variant="light" role="alert">
          {errors[''] ?? errors.token}
        </Alert>
      )}
      <Button type="submit" fullWidth loading={isSending}>
        Begin
      </Button>
    </form>
  )
}

type Typed = Record<'name' | 'email' | 'password' | 'again', string>

function readForm(form: HTMLFormElement): Typed {
  const typed = new FormData(form)
  const text = (name: keyof Typed) => String(typed.get(name) ?? '')
  return { name: text('name').trim(), email: text('email').trim(), password: text('password'), again: text('again') }
}

// What the server can't know, or would say too late: the rest is its own.
function rulesBroken({ name, email, password, again }: Typed): SignInErrors | null {
  const wrong: SignInErrors = {}
  if (!name) wrong.name = 'Is required'
  if (!email) wrong.email = 'Is required'
  if (password.length < SHORTEST_PASSWORD) wrong.password = `Needs at least ${SHORTEST_PASSWORD} characters`
  else if (password !== again) wrong.again = 'The two are not the same'
  return Object.keys(wrong).length > 0 ? wrong : null
}
