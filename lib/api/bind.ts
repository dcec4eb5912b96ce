import { listQueues } from '#lib/queue/read-queues'
import type { OperationName } from '#lib/wire/operations'
import { BULK_BINDINGS } from './bind-bulk'
import { PEOPLE_BINDINGS } from './bind-people'
import { QUESTION_BINDINGS } from './bind-questions'
import { SETTING_BINDINGS } from './bind-settings'
import { TODO_BINDINGS } from './bind-todos'
import { WORK_BINDINGS } from './bind-work'
import { type Bindings, ok } from './call'
import { openapi } from './openapi'
import { STREAM_BINDINGS } from './stream'

/** What runs for every operation there is; one without a binding doesn't compile. */
export const BINDINGS: Bindings<OperationName> = {
  ...TODO_BINDINGS,
  ...WORK_BINDINGS,
  ...BULK_BINDINGS,
  ...QUESTION_BINDINGS,
  ...PEOPLE_BINDINGS,
  ...SETTING_BINDINGS,
  ...STREAM_BINDINGS,
  listQueues: async ({ core, caller }) => ok({ queues: await listQueues(core.database, caller) }),
  getOpenapi: async () => ok(openapi()),
}
