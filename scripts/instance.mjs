import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isAlive } from './processes.mjs'

/** @typedef {import('./processes.mjs').Identity} Identity */
/**
 * @typedef {object} Instance what a started Switchboard says about itself
 * @property {string} url where people and agents reach it
 * @property {string} worker_url the worker's health and metrics
 * @property {string} database_url
 * @property {number} pid the supervisor's
 * @property {string} mark tells the supervisor from a later process with its pid
 * @property {string} started_at ISO 8601
 * @property {Record<string, number>} processes the pid of each process when it became ready
 */

/** The repository's root. The parent folder is right from scripts/ and also from dist/, where this file gets bundled. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))

/** The folder of this machine's data: `.switchboard` in the checkout, or what SWITCHBOARD_HOME names. */
export const homeFolder = () =>
  process.env.SWITCHBOARD_HOME ? resolve(process.env.SWITCHBOARD_HOME) : join(ROOT, '.switchboard')

const instanceFile = () => join(homeFolder(), 'instance.json')

/** What is running from this checkout, ready to be used; null when nothing is.
 * @returns {Instance | null} */
export function readInstance() {
  try {
    const instance = JSON.parse(readFileSync(instanceFile(), 'utf8'))
    return isAlive(instance) ? instance : null
  } catch {
    return null
  }
}

/** The database that scripts work on: DATABASE_URL, else that of the running instance, else null.
 * @returns {string | null} */
export const findDatabaseUrl = () => process.env.DATABASE_URL || (readInstance()?.database_url ?? null)

/** Tells everybody on this machine who may read our files how to reach us.
 * @param {Instance} instance */
export function publishInstance(instance) {
  writeWhole(instanceFile(), instance)
}

/** Takes that back. */
export function withdrawInstance() {
  rmSync(instanceFile(), { force: true })
}

/** Writes JSON so that a reader sees the old file or the new one, readable by its owner alone.
 * @param {string} path @param {unknown} value */
export function writeWhole(path, value) {
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, path)
}
