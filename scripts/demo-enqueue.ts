import type { Client } from '#lib/sdk/sdk'
import { QUEUE } from './demo-endpoints'
import type { InstalledPackage } from './demo-packages'

/** What kind of todo the demo makes. */
export const KIND = 'package-licence'

const AT_ONCE = 500
const MOST_TITLE = 200
const MOST_KEY = 300

/** One todo for each package; one that an earlier run left live is taken on instead. */
export interface Enqueued {
  ids: string[]
  takenOn: number
}

/** Makes the todos; sent again, it makes none twice. */
export async function enqueuePackages(client: Client, packages: readonly InstalledPackage[]): Promise<Enqueued> {
  const results: { id: string; created: boolean }[] = []
  for (let from = 0; from < packages.length; from += AT_ONCE) {
    const todos = packages.slice(from, from + AT_ONCE).map(todoFor)
    results.push(...(await client.enqueueMany({ todos })).results)
  }
  return { ids: results.map(({ id }) => id), takenOn: results.filter(({ created }) => !created).length }
}

const todoFor = ({ name, version, path }: InstalledPackage) => ({
  queue: QUEUE,
  kind: KIND,
  title: `${name}@${version}`.slice(0, MOST_TITLE),
  payload: { name, version, path },
  idempotency_key: `${name}@${version} ${path}`.slice(-MOST_KEY),
})
