import { STATE_NAMES, STATES, type State } from '#lib/model/states'
import { landings, TRANSITIONS, type Transition } from '#lib/model/transitions'
import { code, codes, page, table } from './docs-text'

const ALL = Object.entries<Transition>(TRANSITIONS)

/** The states a todo can be in, and every way from one to another. */
export const statesPage = (): string =>
  page('States and transitions', '`lib/model/states.ts` and `lib/model/transitions.ts`', [
    'A todo is in exactly one of these. The names are the same in the database, on the wire and in metrics.',
    states(),
    '## Transitions',
    'Nothing else changes a state. Each is one SQL statement that locks the row, checks where it stands and who calls, moves it, opens or closes the attempt and the question, and writes the event.',
    transitions(),
    '## Picture',
    picture(),
  ])

function states(): string {
  const rows = STATE_NAMES.map((name) => {
    const { label, kind, description, a2a } = STATES[name]
    const isEntered = ALL.some(([, transition]) => landings(transition).includes(name))
    const note = isEntered ? '' : ' No transition of this version leads here.'
    return [code(name), label, kind, `${description}${note}`, code(a2a)]
  })
  return table(['State', 'Label', 'Kind', 'Meaning', 'In A2A'], rows)
}

function transitions(): string {
  const rows = ALL.map(([name, row]) => [
    code(name),
    codes(row.from) || 'nothing',
    `${row.to === 'kind' ? codes(landings(row)) : row.to === 'same' ? 'as it was' : code(row.to)}${row.atCap ? `; ${code(row.atCap)} when that was the last` : ''}`,
    row.by,
    `${code(row.verb)}${row.reason ? `, reason ${code(row.reason)}` : ''}`,
    row.closes ? `${row.closes.outcome}, ${row.closes.disposition}` : '',
    row.lease,
  ])
  return table(['Transition', 'From', 'To', 'By', 'Event', 'Closes the attempt as', 'Lease'], rows)
}

function picture(): string {
  const edges = ALL.flatMap(([name, row]) =>
    (row.from.length > 0 ? row.from : [null]).flatMap((from) =>
      landings({ ...row, from: from ? [from] : [] }).map((to) => ({
        pair: `${from ? node(from) : '[*]'} --> ${node(to)}`,
        name,
      })),
    ),
  )
  const pairs = [...new Set(edges.map(({ pair }) => pair))]
  const lines = pairs.map(
    (pair) =>
      `  ${pair}: ${edges
        .filter((edge) => edge.pair === pair)
        .map(({ name }) => name)
        .join(', ')}`,
  )
  return ['```mermaid', 'stateDiagram-v2', ...STATE_NAMES.map(named), ...lines, '```'].join('\n')
}

const node = (state: State): string => state.replace('-', '_')

const named = (state: State): string => `  state "${STATES[state].label}" as ${node(state)}`
