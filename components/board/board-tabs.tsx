'use client'

import { Tabs } from '@mantine/core'
import { parseAsStringLiteral, useQueryState } from 'nuqs'
import { STATES } from '#lib/model/states'
import { sum } from '#lib/query/counts'
import { useTabInView } from '../shell/use-tab-in-view'
import styles from './board.module.css'
import { Column } from './column'
import { countText } from './column-words'
import { COLUMNS } from './columns'
import { Lamp } from './lamp'
import { useCounts } from './use-tally'

const FIRST = COLUMNS[0]?.state ?? 'pending'
const tab = parseAsStringLiteral(COLUMNS.map(({ state }) => state)).withDefault(FIRST)

/** One column at a time, chosen by its tab: the board on a narrow screen. */
export default function BoardTabs() {
  const counts = useCounts()
  const [chosen, choose] = useQueryState('column', tab.withOptions({ history: 'replace', scroll: false }))
  const row = useTabInView(chosen)
  return (
    <Tabs
      value={chosen}
      onChange={(state) => void choose(state as typeof chosen)}
      keepMounted={false}
      classNames={{ root: styles.tabs, list: styles.tabList, tab: styles.tab, panel: styles.panel }}
    >
      <Tabs.List ref={row} aria-label="Columns">
        {COLUMNS.map(({ state, states }) => {
          const counted = counts && sum(counts, states)
          return (
            <Tabs.Tab
              key={state}
              value={state}
              leftSection={<Lamp state={state} size={14} />}
              data-empty={counted?.count === 0 || undefined}
            >
              {STATES[state].label} <span className={styles.tabCount}>{countText(counted, null)}</span>
            </Tabs.Tab>
          )
        })}
      </Tabs.List>
      {COLUMNS.map((column) => (
        <Tabs.Panel key={column.state} value={column.state}>
          <Column column={column} counted={counts && sum(counts, column.states)} />
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
