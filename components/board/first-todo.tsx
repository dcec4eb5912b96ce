import { FirstSteps } from '../home/first-steps'
import styles from './board.module.css'

/** What stands in place of a board that has never had a todo: the ways to make one. */
export default function FirstTodo() {
  return (
    <section className={styles.first} aria-labelledby="first">
      <h2 id="first">Nothing here yet</h2>
      <p>Whatever an agent enqueues shows up here at once, in the column of its state. The way to the first:</p>
      <FirstSteps />
    </section>
  )
}
