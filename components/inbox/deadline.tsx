import type { Prompt } from '#lib/query/prompts'
import { useNow } from '#lib/query/use-now'
import { timeLeft } from '../shell/time-span'

type Waiting = Pick<Prompt, 'expires_at' | 'todo' | 'status'>

const SOON = 15 * 60

/** How long an open question waits still, in a list: ticking, and lit when it is about to end. */
export function TimeLeft({ prompt, className }: { prompt: Waiting; className?: string }) {
  const now = useNow()
  const { expires_at: at } = prompt
  if (at === null || now === null) return <span className={className}>{at === null ? 'no deadline' : ' '}</span>
  const left = Math.floor(Date.parse(at) / 1000) - now
  return (
    <time dateTime={at} className={className} data-soon={left < SOON || undefined}>
      {left > 0 ? `${timeLeft(left)} left` : 'due now'}
    </time>
  )
}

/** What happens to an open question that nobody answers, and when. */
export function IfNobodyAnswers({ prompt }: { prompt: Waiting }) {
  const now = useNow()
  const { todo, expires_at: at } = prompt
  if (at === null) {
    return <>{todo.owner ? 'It waits for ever: the interrupt deadline is off.' : 'It waits for as long as it takes.'}</>
  }
  const left = now === null ? null : Math.floor(Date.parse(at) / 1000) - now
  const spent = todo.failures + todo.lease_expirations + 1
  const when = left === null ? 'In time' : left > 0 ? `In ${timeLeft(left)}` : 'At the next sweep'
  const what = spent >= todo.max_attempts ? 'the todo fails for good' : 'the todo goes back to the queue'
  return (
    <>
      If nobody answers: <time dateTime={at}>{when.toLowerCase()}</time> {what}; the attempt counts as lost:{' '}
      <span>
        spent {spent} of {todo.max_attempts}
      </span>
      .
    </>
  )
}
