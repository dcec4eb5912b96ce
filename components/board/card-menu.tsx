import { Menu } from '@mantine/core'
import { IconClipboardCopy, IconExternalLink, IconMessageQuestion, IconTerminal2 } from '@tabler/icons-react'
import Link from 'next/link'
import type { Card } from '#lib/wire/todo'
import { copyText } from '../shell/copy-text'
import { MenuAt } from '../shell/menu-at'
import { ACTS, askFor, possibleActs } from '../todo/acts-table'
import { useRole } from '../todo/use-role'
import { useBoard } from './board-context'
import styles from './card-menu.module.css'

/** What can be done to a card, beside its button. */
export default function CardMenu({ card, button, onClose }: { card: Card; button: HTMLElement; onClose: () => void }) {
  const { open, prompts } = useBoard()
  const role = useRole()
  const prompt = prompts.get(card.id)
  return (
    <MenuAt button={button} onClose={onClose}>
      <Menu.Item leftSection={<IconExternalLink size={15} aria-hidden />} onClick={() => open(card.id)} data-autofocus>
        Open
      </Menu.Item>
      {prompt && (
        <Menu.Item
          leftSection={<IconMessageQuestion size={15} aria-hidden />}
          component={Link}
          href={`/inbox/${prompt.id}`}
        >
          Answer
        </Menu.Item>
      )}
      {possibleActs(card, role).map((name) => {
        const { label, Icon, isDangerous } = ACTS[name]
        return (
          <Menu.Item
            key={name}
            leftSection={<Icon size={15} aria-hidden />}
            onClick={() => askFor(name, card)}
            className={isDangerous ? styles.dangerous : undefined}
          >
            {label}
          </Menu.Item>
        )
      })}
      <Menu.Divider />
      <Menu.Item leftSection={<IconClipboardCopy size={15} aria-hidden />} onClick={() => copyText(card.id)}>
        Copy id
      </Menu.Item>
      <Menu.Item leftSection={<IconTerminal2 size={15} aria-hidden />} onClick={() => copyText(curlFor(card.id))}>
        Copy as curl
      </Menu.Item>
    </MenuAt>
  )
}

const curlFor = (id: string): string =>
  `curl -H "Authorization: Bearer $SWITCHBOARD_TOKEN" '${window.location.origin}/api/v1/todos/${id}'`
