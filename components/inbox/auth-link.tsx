import { Button } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { httpsAddress } from './https-address'
import styles from './prompt-form.module.css'

/** The address to sign in at: its host in full, so that a deceptive one can be seen, and the way there in a tab of its own. */
export function AuthLink({ url }: { url: string }) {
  const address = httpsAddress(url)
  if (!address) return <p className={styles.where}>The address it gave is not one that can be opened safely.</p>
  return (
    <div className={styles.auth}>
      <div className={styles.where}>
        <span className={styles.whereLabel}>Sign in at</span>
        <strong className={styles.host}>{address.host}</strong>
        <span className={styles.path}>{`${address.pathname}${address.search}`}</span>
      </div>
      <Button
        component="a"
        href={address.href}
        target="_blank"
        rel="noopener noreferrer"
        variant="light"
        rightSection={<IconExternalLink size={16} aria-hidden />}
      >
        Open in a new tab
      </Button>
    </div>
  )
}
