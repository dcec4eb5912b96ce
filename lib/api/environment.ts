import { type ProcessEnvironment, readProcessEnvironment } from '#lib/model/environment'
import { readSite, type Site } from './site'

/** What the web process is told by its environment. */
export interface Environment extends ProcessEnvironment {
  site: Site
  /** Pages are built when asked for. */
  dev: boolean
}

/** Reads the environment; throws BadEnvironment naming each variable that is wrong. Empty ones count as not set. */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  return { ...readProcessEnvironment(env, 4300), site: readSite(env), dev: env.NODE_ENV !== 'production' }
}
