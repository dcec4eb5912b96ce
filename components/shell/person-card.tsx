'use client'

import { ActionIcon } from '@mantine/core'
import { IconLogout } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { signOut } from '#lib/query/me'
import type { Role } from '#lib/wire/caller'
import { forgetDrafts } from '../inbox/drafts'
import styles from './person-card.module.css'
import { toast } from './toast'

/** Who is signed in. */
export interface Person {
  name: string
  role: Role
}

/** Who is signed in, as what, and the way out. */
export function PersonCard({ person: { name, role } }: { person: Person }) {
  const leaving = useMutation(signOut)

  function leave(): void {
    leaving.mutate(undefined, {
      onSuccess: () => {
        forgetDrafts()
        // A page that the browser had set aside would come back with everything it showed.
        window.addEventListener('pageshow', ({ persisted }) => persisted && window.location.reload())
        window.location.assign('/sign-in')
      },
      onError: ({ message }) => void toast({ title: 'You are still signed in', message, tone: 'bad' }),
    })
  }

  return (
    <div className={styles.person}>
      <span className={styles.initial} aria-hidden>
        {[...name][0]?.toUpperCase()}
      </span>
      <span className={styles.who}>
        <bdi className={styles.name} title={name}>
          {name}
        </bdi>
        <span className={styles.role}>{role}</span>
      </span>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label="Sign out"
        title="Sign out"
        onClick={leave}
        loading={leaving.isPending || leaving.isSuccess}
      >
        <IconLogout size={17} stroke={1.75} aria-hidden />
      </ActionIcon>
    </div>
  )
}
