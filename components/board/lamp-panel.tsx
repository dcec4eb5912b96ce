import { STATE_NAMES, STATES, type State } from '#lib/model/states'
import { TRANSITIONS, type Transition } from '#lib/model/transitions'
import { Lamp } from './lamp'
import styles from './lamp-panel.module.css'

const WHO: Record<Transition['by'], string> = {
  client: 'who enqueued it',
  worker: 'a worker',
  holder: 'its worker',
  responder: 'a person',
  operator: 'an operator',
  reaper: 'the reaper',
  system: 'its last child',
}

const ALL: Transition[] = Object.values(TRANSITIONS)

/** Who can move a todo on from this state, as the state machine has it; an end that nobody undoes has none. */
function movers(state: State): string[] {
  return [...new Set(ALL.filter(({ from }) => from.includes(state)).map(({ by }) => WHO[by]))]
}

/** The legend of all lamps: each state's shape, name, meaning, and who moves a todo on from there. */
export function LampPanel() {
  return (
    <div className={styles.panel}>
      <ul className={styles.strip}>
        {STATE_NAMES.map((state) => (
          <li key={state} className={styles.cell}>
            <span className={styles.bezel}>
              <Lamp state={state} size={26} />
            </span>
            <h3 className={styles.label}>{STATES[state].label}</h3>
            <p className={styles.description}>{STATES[state].description}</p>
            <p className={styles.way}>
              <span className={styles.key}>Moved on by </span>
              <span className={styles.value}>{movers(state).join(', ') || 'nobody: it is over'}</span>
            </p>
          </li>
        ))}
        <li className={styles.note}>
          <p>
            Every todo has one lamp. What blinks waits for a person; whatever is not over has somebody, or a clock, that
            moves it on.
          </p>
        </li>
      </ul>
    </div>
  )
}
