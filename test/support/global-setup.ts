import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { up } from '../../prisma/runner'
import { within } from './address'
import { startTestServer } from './server'

declare module 'vitest' {
  interface ProvidedContext {
    /** The maintenance database of the tests' server. */
    adminUrl: string
    /** A migrated, empty database that nobody is connected to. */
    template: string
  }
}

/** Starts one PostgreSQL for the whole run and migrates the template that every test file clones. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startTestServer()
  const template = `switchboard_template_${process.pid}`
  try {
    await session(server.url, async (admin) => {
      await admin.query(`DROP DATABASE IF EXISTS ${template}`)
      await admin.query(`CREATE DATABASE ${template}`)
    })
    await session(within(server.url, template), (client) => up(client))
  } catch (error) {
    await server.stop()
    throw error
  }
  project.provide('adminUrl', server.url)
  project.provide('template', template)
  return async () => {
    await session(server.url, (admin) => admin.query(`DROP DATABASE IF EXISTS ${template} WITH (FORCE)`))
    await server.stop()
  }
}

async function session(url: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url, application_name: 'test-setup' })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
