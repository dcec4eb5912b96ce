'use client'

import { UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { useMounted } from '@mantine/hooks'
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react'
import styles from './color-scheme.module.css'

const CHOICES = [
  { value: 'auto', label: 'As the system', Icon: IconDeviceDesktop },
  { value: 'light', label: 'Light', Icon: IconSun },
  { value: 'dark', label: 'Dark', Icon: IconMoon },
] as const

/** Light, dark, or as the system has it; the browser remembers the choice. */
export function ColorScheme() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  // The server cannot know what this browser remembers, so none is marked before the browser has said.
  const isMounted = useMounted()
  return (
    <fieldset className={styles.choices} aria-label="Colours">
      {CHOICES.map(({ value, label, Icon }) => (
        <UnstyledButton
          key={value}
          title={label}
          className={styles.choice}
          aria-label={label}
          aria-pressed={isMounted && colorScheme === value}
          onClick={() => setColorScheme(value)}
        >
          <Icon size={16} stroke={1.75} aria-hidden />
        </UnstyledButton>
      ))}
    </fieldset>
  )
}
