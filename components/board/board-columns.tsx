'use client'

import { sum } from '#lib/query/counts'
import styles from './board.module.css'
import { useColumnChoices } from './collapsed'
import { Column } from './column'
import { COLUMNS } from './columns'
import { RailColumn } from './rail-column'
import { useCounts } from './use-tally'

/** The columns beside each other; empty ones of questions, and those somebody collapsed, take little room. */
export function BoardColumns() {
  const counts = useCounts()
  const choices = useColumnChoices()
  return (
    <div className={styles.columns}>
      {COLUMNS.map((column) => {
        const counted = counts && sum(counts, column.states)
        const isEmptyRail = column.isRailWhenEmpty && !counted?.count
        const choice = choices[column.state] ?? (isEmptyRail ? 'collapsed' : 'open')
        return choice === 'collapsed' ? (
          <RailColumn key={column.state} column={column} counted={counted} />
        ) : (
          <Column key={column.state} column={column} counted={counted} isCollapsible />
        )
      })}
    </div>
  )
}
