import type { Answer, Prompt } from '#lib/sdk/sdk'
import type { Interrupt } from '#lib/wire/interrupt'
import { type Candidate, canonical, type Evidence, type Verdict } from './demo-licence'
import type { InstalledPackage } from './demo-packages'

/** How `--auto` answers. */
export const AUTO_RULE =
  'each question gets its first choice: what the licence files say in full, else what the manifest says, else it is left open; what is to be approved is accepted at low risk and declined at any other'

/** SPDX's own word for a licence that nobody has settled. */
export const LEFT_OPEN = 'NOASSERTION'
const OTHER = 'other'

/** What a person fills in. */
export interface Fields {
  licence: string
  /** `other`, where none of the choices fits. */
  [field: string]: string
}

type Doubtful = Extract<Verdict, { doubt: string }>

/** The question about a package that its evidence doesn't settle; `trouble` says what was wrong with the answer before. */
export function promptFor(about: InstalledPackage, evidence: Evidence, verdict: Doubtful, trouble?: string): Prompt {
  return {
    title: `Which licence has ${about.name} ${about.version}?`.slice(0, 200),
    message: [...(trouble ? [`**${trouble}**`] : []), `${verdict.why}.`, ...evidenceLines(about, evidence)].join(
      '\n\n',
    ),
    schema: {
      type: 'object',
      properties: {
        licence: { type: 'string', title: 'Licence', oneOf: choices(verdict.candidates) },
        other: {
          type: 'string',
          title: 'Another SPDX expression',
          description: 'Only with "Another one", for example MIT OR Apache-2.0',
          maxLength: 200,
        },
      },
      required: ['licence'],
    },
    risk: verdict.doubt === 'conflicting' ? 'medium' : 'low',
  }
}

const choices = (candidates: Candidate[]) => [
  ...candidates.map(({ licence, says }) => ({ const: licence, title: `${licence}, as ${says} has it` })),
  { const: LEFT_OPEN, title: 'Leave it open' },
  { const: OTHER, title: 'Another one, named below' },
]

const evidenceLines = ({ path }: InstalledPackage, { declared, files }: Evidence): string[] => [
  `\`${path}/package.json\`: ${declared === null ? 'no `license`' : `\`license\` is \`${declared}\``}`,
  ...files.map(
    ({ name, ids, excerpt }) => `\`${name}\` (${ids.join(', ') || 'not recognised'}) begins:\n\n${indented(excerpt)}`,
  ),
]

// An indented block needs no fence, which the file itself might hold.
const indented = (text: string): string => text.replace(/^/gm, '    ')

/** What an answer settles: a licence, or what is wrong with it. */
export function readAnswer(answer: Answer<Fields>): { licence: string } | { trouble: string } {
  if (answer.action === 'decline') return { licence: LEFT_OPEN }
  const { licence, other = '' } = answer.content
  if (licence !== OTHER) return { licence }
  const expression = canonical(other.trim())
  return expression ? { licence: expression.text } : { trouble: `"${other}" is no SPDX expression` }
}

/** What somebody says to a question of the demo: a form filled in, or yes or no to an approval. */
export type Reply = { comment?: string } & (
  | { action?: undefined; content: Fields }
  | { action: 'accept' | 'decline'; content?: undefined }
)

/** A reply in a word. */
export function replyWords({ action, content }: Reply): string {
  if (content) return content.licence === OTHER ? (content.other ?? OTHER) : content.licence
  return action === 'accept' ? 'accepted' : 'declined'
}

/** What `--auto` says to a question. */
export function autoAnswer({ kind, risk, schema }: Pick<Interrupt, 'kind' | 'risk' | 'schema'>): Reply {
  const comment = `By rule: ${AUTO_RULE}`
  if (kind === 'approval') return { action: risk === 'low' ? 'accept' : 'decline', comment }
  const property = schema?.properties.licence
  const first = property && 'oneOf' in property ? property.oneOf?.[0]?.const : undefined
  return { content: { licence: first ?? LEFT_OPEN }, comment }
}
