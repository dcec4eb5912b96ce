'use client'

import { UnstyledButton } from '@mantine/core'
import { STATES } from '#lib/model/states'
import type { Counted } from '#lib/query/counts'
import { chooseColumn } from './collapsed'
import { countText } from './column-words'
import type { BoardColumn } from './columns'
import { Lamp } from './lamp'
import styles from './rail-column.module.css'

/** A column that takes little room: it is empty, or somebody collapsed it. */
export function RailColumn({ column, counted }: { column: BoardColumn; counted: Counted | null }) {
  const { label } = STATES[column.state]
  const count = countText(counted, null)
  return (
    <UnstyledButton
      className={styles.rail}
      aria-label={`${label}, ${count}: open the column`}
      onClick={() => chooseColumn(column.state, 'open')}
    >
      <Lamp state={column.state} size={15} />
      <span className={styles.count}>{count}</span>
      <span className={styles.label}>{label}</span>
    </UnstyledButton>
  )
}
