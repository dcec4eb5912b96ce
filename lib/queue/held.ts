import type { Held } from './why-not'

/** The input every worker verb brings. An epoch may be any number: one that never was holds nothing. */
export const HELD_INPUT = { lease_epoch: 'bigint', endpoint_id: 'text' }

/** The guard of every worker verb: the row is still held by this endpoint in this epoch. */
export const HELD_BY = 't.owner_endpoint_id = i.endpoint_id AND t.lease_epoch = i.lease_epoch'

/** A worker's row for `move`: the lease it brings and what its verb adds. */
export const heldRow = (held: Held, input: object = {}) => ({
  id: held.id,
  lease_epoch: held.leaseEpoch,
  endpoint_id: held.endpointId,
  ...input,
})

/** The first mention of each lease in a batch: one statement can move a row only once, and only one lease of a todo is in force. */
export const firstMentions = <Mention extends Held>(mentions: readonly Mention[]): Mention[] => [
  ...new Map([...mentions].reverse().map((mention) => [`${mention.id} ${mention.leaseEpoch}`, mention])).values(),
]
