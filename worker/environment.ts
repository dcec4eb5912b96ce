import { type ProcessEnvironment, readProcessEnvironment, type Variables } from '#lib/model/environment'

export type Environment = ProcessEnvironment

/** Reads the worker's environment; throws BadEnvironment naming each variable that is wrong, and what it should be. */
export const readEnvironment = (env: Variables): Environment => readProcessEnvironment(env, 4301)
