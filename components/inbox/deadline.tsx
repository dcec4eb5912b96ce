import type { Prompt } from '#lib/query/prompts'
import { useNow } from '#lib/query/use-now'
import { timeLeft } from '../shell/time-span'
import { waitEnd } from './wait-end'

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

/** Who keeps its todo meanwhile, what happens to an open question that nobody answers, and when. */
export function IfNobodyAnswers({ prompt }: { prompt: Waiting }) {
  const now = useNow()
  const { todo, expires_at: at } = prompt
  const { isParked, isFinal, spent, of } = waitEnd(todo)
  const who = isParked ? 'It is parked: nobody holds it, and any worker goes on with the answer. ' : ''
  if (at === null) {
    return (
      <>
        {who}
        {isParked ? 'It waits for as long as it takes.' : 'It waits for ever: the interrupt deadline is off.'}
      </>
    )
  }
  const left = now === null ? null : Math.floor(Date.parse(at) / 1000) - now
  const when = left === null ? 'in time' : left > 0 ? `in ${timeLeft(left)}` : 'at the next sweep'
  const what = isFinal ? 'the todo fails for good' : 'the todo goes back to the queue'
  return (
    <>
      {who}If nobody answers: <time dateTime={at}>{when}</time> {what};{' '}
      {isParked ? 'it counts as a question nobody answered' : 'the attempt counts as lost'}:{' '}
      <span>
        spent {spent} of {of}
      </span>
      .
    </>
  )
}
