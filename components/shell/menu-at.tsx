import { Menu } from '@mantine/core'
import { type ReactNode, useLayoutEffect } from 'react'

/** A menu under the button that opened it, which has the focus again when the menu closes. */
export function MenuAt({
  button,
  onClose,
  children,
}: {
  button: HTMLElement
  onClose: () => void
  children: ReactNode
}) {
  const { left, bottom, width } = button.getBoundingClientRect()
  useLayoutEffect(() => {
    button.setAttribute('aria-expanded', 'true')
    return () => {
      button.removeAttribute('aria-expanded')
      // Whoever chose something has the focus there; whoever closed the menu is back where they were.
      if (document.activeElement === document.body) button.focus()
    }
  }, [button])

  return (
    <Menu
      opened
      onClose={onClose}
      position="bottom-end"
      width={220}
      trapFocus
      returnFocus={false}
      withInitialFocusPlaceholder={false}
    >
      <Menu.Target>
        <span aria-hidden style={{ position: 'fixed', left, top: bottom, width, height: 0 }} />
      </Menu.Target>
      <Menu.Dropdown aria-label="Actions">{children}</Menu.Dropdown>
    </Menu>
  )
}
