import type { ComponentPropsWithoutRef } from 'react'
// Of its own, Next would preload the style sheet on every page and warn that none uses it.
import styles from './frame.module.css'

/** A button that looks like a link, for use among words. Mantine's would cost every page 8 kB. */
export const LinkButton = (props: ComponentPropsWithoutRef<'button'>) => (
  <button type="button" className={styles.again} {...props} />
)
