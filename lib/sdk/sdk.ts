/** What an agent imports as `switchboard/sdk`: a client of the API, and a worker on top of it. */
// biome-ignore lint/performance/noBarrelFile: the package has one door
export { Refusal } from '#lib/model/errors'
export { argumentsHash } from '#lib/wire/arguments-hash'
export type { Handler } from './attempt'
export { type Client, type ConnectOptions, connect } from './client'
export type { Context } from './context'
export { type EffectOptions, NotDone } from './effect'
export { type FailureHints, Fatal, Parked, Stopped } from './fatal'
export type { Json } from './json'
export type { Log, LogLine } from './log'
export type { Answer, Prompt } from './prompt'
export type { CallOptions } from './send'
export { type Worker, type WorkerOptions, worker } from './worker'
