import { createInterface } from 'node:readline/promises'
import type { AnswerOf } from '#lib/sdk/client'
import type { Fields, Reply } from './demo-question'
import type { View } from './demo-view'

/** An open question as it stands in the inbox. */
export type OpenQuestion = AnswerOf<'listInterrupts'>['interrupts'][number]

/**
 * Asks whoever sits at this terminal; null when they close it (Ctrl-D). Rejects when `signal` says that the question is no
 * longer open.
 */
export async function askTerminal(question: OpenQuestion, view: View, signal: AbortSignal): Promise<Reply | null> {
  view.hold()
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  // readline takes Ctrl-C for itself.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  const isLeft = new Promise<null>((resolve) => terminal.once('close', () => resolve(null)))
  const ask = (text: string) => terminal.question(text, { signal })
  try {
    return await Promise.race([isLeft, answered(question, view, ask)])
  } finally {
    terminal.close()
    view.resume()
  }
}

type AskLine = (text: string) => Promise<string>

async function answered(question: OpenQuestion, view: View, ask: AskLine): Promise<Reply> {
  process.stdout.write(`${asText(question, view.paint)}\n`)
  return question.kind === 'approval' ? decided(ask) : { content: await filledIn(question, view, ask) }
}

async function decided(ask: AskLine): Promise<Reply> {
  for (;;) {
    const said = (await ask('  Approve? yes or no: ')).trim()
    const action = /^y(es)?$/i.test(said) ? 'accept' : /^no?$/i.test(said) ? 'decline' : null
    if (action) return { action, ...commented(await ask('  Why? A comment, or nothing: ')) }
  }
}

const commented = (comment: string): { comment?: string } => (comment.trim() ? { comment: comment.trim() } : {})

async function filledIn(question: OpenQuestion, view: View, ask: AskLine): Promise<Fields> {
  const choices = choicesOf(question)
  const listed = choices.map(({ title }, index) => `  ${view.paint('cyan', String(index + 1))}  ${visible(title)}\n`)
  process.stdout.write(listed.join(''))
  const licence = await choose(choices, ask)
  return licence === 'other' ? { licence, other: await ask('  SPDX expression: ') } : { licence }
}

interface Choice {
  const: string
  title: string
}

async function choose(choices: Choice[], ask: AskLine): Promise<string> {
  for (;;) {
    const chosen = choices[Number(await ask(`  Your choice, 1 to ${choices.length}: `)) - 1]
    if (chosen) return chosen.const
  }
}

function choicesOf({ schema }: OpenQuestion): Choice[] {
  const property = schema?.properties.licence
  return (property && 'oneOf' in property && property.oneOf) || []
}

function asText({ title, message, kind, risk }: OpenQuestion, paint: View['paint']): string {
  const weight = kind === 'approval' ? `\n\nRisk: ${risk}.` : ''
  const body = `${message ?? ''}${weight}`.replace(/^/gm, '  ')
  return `\n  ${paint('yellow', '?')} ${paint('bold', visible(title))}\n\n${visible(body)}\n`
}

// What comes from a package must not steer the terminal.
const visible = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
