import { answer } from '#lib/queue/answer'
import { listInterrupts, readInterrupt } from '#lib/queue/read-interrupts'
import { type Bindings, ok } from './call'
import { readPatiently } from './wait'

/** What people and answering endpoints do with questions. */
export const QUESTION_BINDINGS: Bindings<'listInterrupts' | 'getInterrupt' | 'answerInterrupt'> = {
  listInterrupts: async ({ core, caller, query }) => ok(await listInterrupts(core.database, query, caller)),
  getInterrupt: async (call) => {
    const { core, caller, params } = call
    const interrupt = await readPatiently(call, {
      read: () => readInterrupt(core.database, params.id, caller),
      todoOf: ({ todo_id }) => todo_id,
      isEnough: ({ status }) => status !== 'open',
    })
    return ok({ interrupt })
  },
  answerInterrupt: async ({ core, caller, params, body }) => ok(await answer(core.database, params.id, caller, body)),
}
