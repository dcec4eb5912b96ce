import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import parse from 'spdx-expression-parse'
import { z } from 'zod'
import { licencesIn } from './demo-licence-texts'
import { readManifest } from './demo-packages'

const licenceFile = z.object({ name: z.string(), excerpt: z.string(), ids: z.array(z.string()) })

/** A licence file: what it is called, how it begins, and which licences its words are. */
type LicenceFile = z.infer<typeof licenceFile>

/** What a package says of its licence (`declared`, word for word; null when it says nothing), and what its files say. */
export const evidenceSchema = z.object({ declared: z.string().nullable(), files: z.array(licenceFile) })
export type Evidence = z.infer<typeof evidenceSchema>

/** A licence it might be, and who says so. */
export interface Candidate {
  licence: string
  says: string
}

/** What a look at the evidence comes to: a licence and on what it rests, or why a person has to decide and between what. */
export type Verdict =
  | { licence: string; basis: 'manifest and file' | 'manifest' }
  | { doubt: Doubt; why: string; candidates: Candidate[] }

/** Why a person is needed: nothing is declared, something isn't understood, or manifest and files differ. */
export type Doubt = 'missing' | 'unknown' | 'conflicting'

const LICENCE_FILE = /^(licen[sc]e|copying|unlicense)([._-](?!3rd|third).*)?$/i
const MOST_EXCERPT = 600

/** Reads what a package's folder holds about its licence. Throws when there is no manifest. */
export function readEvidence(folder: string): Evidence {
  const manifest = readManifest(folder)
  if (!manifest) throw new Error(`There is no package.json in ${folder}`)
  const names = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && LICENCE_FILE.test(entry.name),
  )
  return { declared: declaredIn(manifest), files: names.map(({ name }) => readLicenceFile(folder, name)) }
}

function readLicenceFile(folder: string, name: string): LicenceFile {
  const text = readFileSync(join(folder, name), 'utf8')
  return { name, excerpt: text.trim().slice(0, MOST_EXCERPT), ids: licencesIn(text) }
}

/** The manifest's licence, in its present form or one of the two that npm once had. */
function declaredIn({ license, licenses }: Record<string, unknown>): string | null {
  const named = [license ?? licenses ?? []].flat().map((each) => (each as { type?: unknown } | null)?.type ?? each)
  const words = named.filter((each): each is string => typeof each === 'string' && each.trim() !== '')
  if (words.length === 0) return null
  return words.length === 1 ? (words[0] ?? null) : `(${words.join(' OR ')})`
}

/** Decides by the evidence, or says why it cannot be decided without a person. */
export function judge({ declared, files }: Evidence): Verdict {
  const found = [...new Set(files.flatMap(({ ids }) => ids))]
  const expression = declared === null ? null : canonical(declared)
  const doubt = (kind: Doubt, why: string): Verdict => ({
    doubt: kind,
    why,
    candidates: candidatesFrom({ files, found, declared: expression?.text }),
  })
  if (declared === null)
    return doubt('missing', `The manifest names no licence, ${namesOf(files)} ${found.join(' and ') || 'none either'}`)
  if (!expression) return doubt('unknown', `The manifest says "${declared}", which is no SPDX expression`)
  if (files.length === 0) return { licence: expression.text, basis: 'manifest' }
  if (found.length === 0) return doubt('unknown', `The words of ${namesOf(files)} are those of no licence known here`)
  const isMore = found.some((id) => !expression.ids.includes(id))
  if (!isMore && expression.isMetBy(found)) return { licence: expression.text, basis: 'manifest and file' }
  return doubt('conflicting', `The manifest says ${expression.text}, ${namesOf(files)} ${found.join(' and ')}`)
}

const namesOf = (files: LicenceFile[]): string => files.map(({ name }) => name).join(' and ') || 'its files'

interface Sources {
  files: LicenceFile[]
  found: string[]
  declared: string | undefined
}

/** The files' words come first: they are what somebody agreed to. */
function candidatesFrom({ files, found, declared }: Sources): Candidate[] {
  const inFiles = found.length > 0 ? [{ licence: found.join(' AND '), says: namesOf(files) }] : []
  const isNew = declared !== undefined && declared !== inFiles[0]?.licence
  return isNew ? [...inFiles, { licence: declared, says: 'the manifest' }] : inFiles
}

/** A licence as SPDX writes it. */
export interface Expression {
  text: string
  /** The licences named, GNU's without saying whether later versions count, since their text doesn't tell. */
  ids: string[]
  /** Whether having these licences' texts is enough. */
  isMetBy(found: string[]): boolean
}

/** Reads an SPDX expression, whatever its spelling; null for what is none. */
export function canonical(expression: string): Expression | null {
  try {
    const parsed = parse(expression)
    return { text: textOf(parsed), ids: idsOf(parsed), isMetBy: (found) => isMet(parsed, found) }
  } catch {
    return null
  }
}

function textOf(info: parse.Info): string {
  if (!('conjunction' in info))
    return `${info.license}${info.plus ? '+' : ''}${info.exception ? ` WITH ${info.exception}` : ''}`
  const sides = [info.left, info.right].map((side) => {
    const isMixed = 'conjunction' in side && side.conjunction !== info.conjunction
    return isMixed ? `(${textOf(side)})` : textOf(side)
  })
  return sides.join(` ${info.conjunction.toUpperCase()} `)
}

const family = (id: string): string => id.replace(/-(only|or-later)$/, '')

const idsOf = (info: parse.Info): string[] =>
  'conjunction' in info ? [...idsOf(info.left), ...idsOf(info.right)] : [family(info.license)]

function isMet(info: parse.Info, found: string[]): boolean {
  if (!('conjunction' in info)) return found.includes(family(info.license))
  const sides = [info.left, info.right].map((side) => isMet(side, found))
  return info.conjunction === 'and' ? sides.every(Boolean) : sides.some(Boolean)
}
