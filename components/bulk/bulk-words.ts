import type { State } from '#lib/model/states'
import { TRANSITIONS, type Transition } from '#lib/model/transitions'
import type { Filter } from '#lib/query/filter'
import type { BulkAction, BulkRun } from '#lib/wire/bulk'

interface Words {
  /** As a button has it. */
  verb: string
  /** While it runs, and when it is over. */
  doing: string
  done: string
  isDangerous: boolean
  /** What it brings about, said before it is done. */
  consequence: string
}

/** What is said of each bulk action, in the order of the menu. */
export const BULK_WORDS: Record<BulkAction, Words> = {
  requeue: {
    verb: 'Requeue',
    doing: 'Putting back',
    done: 'Put back',
    isDangerous: false,
    consequence:
      'They go back to pending with a fresh allowance of attempts; their history stays. Those whose deadline or budget is over, or whose parent has ended, stay as they are.',
  },
  reject: {
    verb: 'Reject',
    doing: 'Rejecting',
    done: 'Rejected',
    isDangerous: true,
    consequence: 'They end as rejected: they should not have been asked for. Nobody has begun them.',
  },
  cancel: {
    verb: 'Cancel',
    doing: 'Canceling',
    done: 'Canceled',
    isDangerous: true,
    consequence:
      'They end as canceled: attempts under way end, open questions are withdrawn, live children are canceled too.',
  },
}

const ACTIONS = Object.keys(BULK_WORDS) as BulkAction[]

/** The states among these that an action can move. */
export const movable = (action: BulkAction, states: readonly State[]): State[] =>
  states.filter((state) => (TRANSITIONS[action] as Transition).from.includes(state))

/** What can be done to all todos in these states. */
export const possibleBulks = (states: readonly State[]): BulkAction[] =>
  ACTIONS.filter((action) => movable(action, states).length > 0)

/** A number of todos, as words have it. */
export const todosOf = (count: number): string => (count === 1 ? '1 todo' : `${count.toLocaleString('en')} todos`)

/** Which todos of a column are meant, where the board shows only some. */
export function among({ queue, q }: Filter): string {
  if (queue === undefined && q === undefined) return ''
  const parts = [queue !== undefined && `queue ${queue}`, q !== undefined && `the text “${q}”`].filter(Boolean)
  return ` Only those the board shows now are meant: ${parts.join(' and ')}.`
}

/** How a run stands, in a sentence. */
export function standing({ action, status, matched, done, failed }: BulkRun): string {
  const { doing, done: did } = BULK_WORDS[action]
  const left = matched - done - failed
  const not = failed > 0 ? `; ${failed.toLocaleString('en')} could not be` : ''
  if (status === 'running') return `${doing} ${todosOf(matched)}: ${done.toLocaleString('en')} done${not}.`
  if (status === 'canceled')
    return `Stopped. ${did} ${todosOf(done)}${not}; ${left.toLocaleString('en')} left as they were.`
  return matched === 0 ? 'Nothing matched.' : `${did} ${todosOf(done)}${not}.`
}
