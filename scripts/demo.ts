import { BadEnvironment, refuseWrongVariables } from '#lib/model/environment'
import { connect, Refusal } from '#lib/sdk/sdk'
import { type Answerer, answerQuestions, tellers } from './demo-answers'
import { clean } from './demo-clean'
import { castFor } from './demo-endpoints'
import { DEMO_USAGE, type DemoFlags, parseDemoFlags } from './demo-flags'
import { AUTO_RULE, autoAnswer } from './demo-question'
import { review } from './demo-review'
import { findOrStart, type Place } from './demo-switchboard'
import { askTerminal } from './demo-terminal'
import { createView, type View } from './demo-view'
import { Problem } from './problem.mjs'
import { stopRequest } from './stop-request.mjs'

/** Runs the demo as its flags say and gives the exit code. */
export async function demo(argv: string[]): Promise<number> {
  const stop = stopRequest()
  const view = createView()
  let place: Place | null = null
  try {
    const flags = parseDemoFlags(argv, process.env)
    if (flags.does === 'help') return say(DEMO_USAGE)
    refuseWrongVariables(process.env, 'programs')
    place = await findOrStart((line) => view.line(line), stop.signal)
    return (await act({ place, flags, view, signal: stop.signal })) ?? stop.exitCode()
  } catch (error) {
    if (stop.signal.aborted) return stop.exitCode()
    process.stderr.write(`\n${explain(error)}\n`)
    return 1
  } finally {
    await place?.stop()
  }
}

interface Act {
  place: Place
  flags: DemoFlags
  view: View
  signal: AbortSignal
}

/** The exit code; null when it was stopped. */
async function act({ place, flags, view, signal }: Act): Promise<number | null> {
  if (flags.does === 'clean') return clean(place, view).then(() => 0)
  const answer = answererFor(flags, view)
  if (flags.does === 'answer') return answerOnly({ place, flags, view, signal }, answer)
  const isRight = await review({ place, flags, view, answer, signal })
  if (isRight === null)
    view.line('  Stopped. What is left stays in the queue: run the demo again to go on, or clean up with --clean.')
  return isRight === null ? null : isRight ? 0 : 1
}

async function answerOnly({ place, view, signal }: Act, answer: Answerer): Promise<null> {
  const { responder } = await castFor(place, 0)
  view.line(`  Waiting for questions at ${place.url}. Ctrl-C ends it.`)
  const client = connect({ url: place.url, token: responder })
  await answerQuestions({
    client,
    answer,
    signal,
    ...tellers(view),
  })
  return null
}

/** Who answers: the rule, whoever sits at this terminal, or somebody elsewhere. */
function answererFor({ isAuto }: DemoFlags, view: View): Answerer {
  if (isAuto) {
    view.line(`  Answers by rule: ${AUTO_RULE}.`)
    return async (question) => autoAnswer(question)
  }
  const leave = ({ title }: { title: string }) => {
    view.line(`  ? ${title} Answer it in another terminal: npm run demo -- --answer`)
    return null
  }
  if (!process.stdin.isTTY) return async (question) => leave(question)
  return async (question, isClosed) => {
    return (await askTerminal(question, view, isClosed)) ?? leave(question)
  }
}

function explain(error: unknown): string {
  if (error instanceof Problem || error instanceof BadEnvironment) return error.message
  if (error instanceof Refusal) return `Switchboard refused (${error.code}): ${error.message}`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function say(text: string): number {
  process.stdout.write(text)
  return 0
}
