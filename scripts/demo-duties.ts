import type { Prompt, Proposal } from '#lib/sdk/sdk'
import { canonical } from './demo-licence'
import type { InstalledPackage } from './demo-packages'

/** What a licence asks of those who pass a package on, and how much hangs on it. */
export interface Duty {
  risk: NonNullable<Prompt['risk']>
  says: string
}

interface Copyleft extends Duty {
  ids: RegExp
}

// From the lightest to the heaviest.
const COPYLEFT: Copyleft[] = [
  {
    ids: /^(MPL|LGPL|EPL|CPL|CDDL|MS-RL|APSL)-/,
    risk: 'low',
    says: 'whoever passes it on must offer the source of its own files, changes included',
  },
  {
    ids: /^CC-BY-(NC-)?SA-|^ODbL-/,
    risk: 'medium',
    says: 'what is made from it must be shared under the same licence',
  },
  {
    ids: /^(GPL|EUPL|OSL)-/,
    risk: 'high',
    says: 'a program that contains it must be passed on with its source, under the same licence',
  },
  {
    ids: /^(AGPL|SSPL)-/,
    risk: 'high',
    says: 'a program that contains it must be offered with its source even to those who only use it over a network',
  },
]

/**
 * What a licence, an SPDX expression, asks for: null when there is a way to meet it without copyleft. Where it leaves a
 * choice the lightest way counts, and where licences come together the heaviest of them.
 */
export function dutyOf(licence: string): Duty | null {
  const expression = canonical(licence)
  if (!expression) return null
  const weights = expression.ids.map((id) => ({ id, weight: COPYLEFT.findIndex(({ ids }) => ids.test(id)) }))
  const isMetWith = (most: number) =>
    expression.isMetBy(weights.filter(({ weight }) => weight <= most).map(({ id }) => id))
  return isMetWith(-1) ? null : (COPYLEFT.find((_, index) => isMetWith(index)) ?? null)
}

/** What is asked for before a package with duties is shipped. */
export function proposalFor({ name, version, path }: InstalledPackage, licence: string, duty: Duty): Proposal {
  return {
    action: 'ship',
    arguments: { name, version, licence },
    title: `Ship ${name} ${version} under ${licence}?`.slice(0, 200),
    message: `\`${path}\` is under ${licence}: ${duty.says}.`,
    risk: duty.risk,
  }
}
