import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { authenticate } from '#lib/auth/authenticate'
import { createEndpoint, listEndpoints } from '#lib/auth/endpoints'
import { connect, type Database } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { revokeEndpoint } from '#lib/queue/revoke'
import type { Scope } from '#lib/wire/caller'
import type { Place } from './demo-switchboard'
import { homeFolder, writeWhole } from './instance.mjs'
import { Problem } from './problem.mjs'

/** The queue all of the demo's todos are in; its endpoints may use no other. */
export const QUEUE = 'licence-review'

/** An endpoint the demo needs. */
export interface Wanted {
  name: string
  scopes: Scope[]
}

const CLIENT: Wanted = { name: 'demo-client', scopes: ['enqueue', 'read', 'operate'] }
const RESPONDER: Wanted = { name: 'demo-responder', scopes: ['read', 'answer'] }
const workerNamed = (number: number): Wanted => ({ name: `demo-worker-${number}`, scopes: ['work'] })

const OURS = /^demo-(client|responder|worker-\d+)(\.\d+)?$/

const MOST_TRIED = 1000

/** The tokens of those who take part, and the names of their endpoints where they have one each. */
export interface Cast {
  client: string
  responder: string
  workers: { name: string; token: string }[]
}

/** Makes the endpoints, or takes those of an earlier run; without a database all of them are SWITCHBOARD_TOKEN. */
export async function castFor(place: Place, workers: number): Promise<Cast> {
  const wanted = Array.from({ length: workers }, (_, index) => workerNamed(index + 1))
  if (!place.databaseUrl) {
    const token = tokenGiven()
    return { client: token, responder: token, workers: wanted.map(({ name }) => ({ name, token })) }
  }
  return withDatabase(place.databaseUrl, async (db) => {
    const known = readTokens()
    const all = [CLIENT, RESPONDER, ...wanted]
    const endpoints = await inOrder(all, (endpoint) => tokenFor(db, endpoint, known))
    const [client, responder, ...rest] = endpoints as [Named, Named, ...Named[]]
    return { client: client.token, responder: responder.token, workers: rest }
  })
}

/** Revokes every endpoint the demo has made and forgets their tokens; gives the names. */
export async function revokeCast(databaseUrl: string): Promise<string[]> {
  const names = await withDatabase(databaseUrl, async (db) => {
    const ours = (await listEndpoints(db)).filter(({ name, revoked_at }) => OURS.test(name) && revoked_at === null)
    return inOrder(ours, async ({ name }) => (await revokeEndpoint(db, name)).name)
  })
  rmSync(tokensFile(), { force: true })
  return names
}

function tokenGiven(): string {
  const token = process.env.SWITCHBOARD_TOKEN
  if (token) return token
  throw new Problem(
    'The demo needs endpoints. Give it the database (DATABASE_URL), or a token with the scopes enqueue, work, read, answer and operate (SWITCHBOARD_TOKEN).',
  )
}

interface Named {
  name: string
  token: string
}

/** A token that works, of an earlier run or of an endpoint made now. */
async function tokenFor(db: Database, wanted: Wanted, known: Record<string, Named>): Promise<Named> {
  const before = known[wanted.name]
  if (before && (await isValid(db, before.token))) return before
  const made = await make(db, wanted)
  known[wanted.name] = made
  mkdirSync(homeFolder(), { recursive: true })
  writeWhole(tokensFile(), known)
  return made
}

/** Makes an endpoint; a name that is taken, since a revoked endpoint keeps its own, gets a number. */
async function make(db: Database, { name, scopes }: Wanted): Promise<Named> {
  for (let number = 1; ; number++) {
    try {
      const as = number === 1 ? name : `${name}.${number}`
      const { token } = await createEndpoint(db, { name: as, scopes, queues: [QUEUE] })
      return { name: as, token }
    } catch (error) {
      if (!(error instanceof Refusal) || number === MOST_TRIED) throw error
    }
  }
}

async function isValid(db: Database, token: string): Promise<boolean> {
  try {
    await authenticate(db, token)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

const tokensFile = () => join(homeFolder(), 'demo-tokens.json')

function readTokens(): Record<string, Named> {
  try {
    return JSON.parse(readFileSync(tokensFile(), 'utf8'))
  } catch {
    return {}
  }
}

async function withDatabase<Result>(databaseUrl: string, work: (db: Database) => Promise<Result>): Promise<Result> {
  const db = connect({ databaseUrl, max: 1, applicationName: 'switchboard-demo' })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

async function inOrder<Given, Result>(all: Given[], act: (one: Given) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (const one of all) results.push(await act(one))
  return results
}
