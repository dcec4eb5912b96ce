import { cancelBulk, orderBulk } from '#lib/queue/bulk'
import { listBulkResults, listBulks, readBulk } from '#lib/queue/read-bulk'
import { type Bindings, ok } from './call'

/** What operators do to many todos at once. */
export const BULK_BINDINGS: Bindings<'orderBulk' | 'listBulks' | 'getBulk' | 'listBulkResults' | 'cancelBulk'> = {
  orderBulk: async ({ core, caller, body }) => ({ status: 202, body: await orderBulk(core.database, body, caller) }),
  listBulks: async ({ core, caller, query }) => ok(await listBulks(core.database, query, caller)),
  getBulk: async ({ core, caller, params }) => ok({ bulk: await readBulk(core.database, params.id, caller) }),
  listBulkResults: async ({ core, caller, params, query }) =>
    ok(await listBulkResults(core.database, await readBulk(core.database, params.id, caller), { ...query, caller })),
  cancelBulk: async ({ core, caller, params }) => ok({ bulk: await cancelBulk(core.database, params.id, caller) }),
}
