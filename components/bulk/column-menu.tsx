import { Menu } from '@mantine/core'
import { IconListCheck } from '@tabler/icons-react'
import Link from 'next/link'
import { useState } from 'react'
import { sum } from '#lib/query/counts'
import type { BulkAction } from '#lib/wire/bulk'
import { useBoard } from '../board/board-context'
import styles from '../board/card-menu.module.css'
import type { BoardColumn } from '../board/columns'
import { useCounts } from '../board/use-tally'
import { MenuAt } from '../shell/menu-at'
import { ACTS } from '../todo/acts-table'
import { BulkDialog } from './bulk-dialog'
import { BULK_WORDS, movable, possibleBulks, todosOf } from './bulk-words'

interface ColumnMenu {
  column: BoardColumn
  button: HTMLElement
  onClose: () => void
}

/** What can be done to all todos of a column at once, and the dialog that does it. */
export default function ColumnMenu({ column, button, onClose }: ColumnMenu) {
  const { filter } = useBoard()
  const counts = useCounts()
  const [action, setAction] = useState<BulkAction | null>(null)
  const countOf = (one: BulkAction) => (counts ? sum(counts, movable(one, column.states)).count : 0)
  const isCapped = counts !== null && sum(counts, column.states).capped
  const amount = (one: BulkAction) => (isCapped ? 'more than 10,000 todos' : todosOf(countOf(one)))

  if (action) {
    const order = { action, filter: { ...filter, state: movable(action, column.states) } }
    return <BulkDialog order={order} amount={amount(action)} shown={filter} onClose={onClose} />
  }
  return (
    <MenuAt button={button} onClose={onClose}>
      {possibleBulks(column.states)
        .filter((one) => countOf(one) > 0)
        .map((one) => {
          const { verb, isDangerous } = BULK_WORDS[one]
          const { Icon } = ACTS[one]
          return (
            <Menu.Item
              key={one}
              leftSection={<Icon size={15} aria-hidden />}
              closeMenuOnClick={false}
              onClick={() => setAction(one)}
              className={isDangerous ? styles.dangerous : undefined}
            >
              {verb} {amount(one)}
            </Menu.Item>
          )
        })}
      <Menu.Item leftSection={<IconListCheck size={15} aria-hidden />} component={Link} href="/bulk">
        Bulk runs
      </Menu.Item>
    </MenuAt>
  )
}
