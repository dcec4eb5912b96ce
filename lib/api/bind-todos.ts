import { isTerminal, STATES } from '#lib/model/states'
import { cancel, reject } from '#lib/queue/cancel'
import { edit } from '#lib/queue/edit'
import { enqueue } from '#lib/queue/enqueue'
import { listChildren } from '#lib/queue/read-children'
import { listEvents, readDetail, readTodo } from '#lib/queue/read-todo'
import { listTodos } from '#lib/queue/read-todos'
import { requeue } from '#lib/queue/requeue'
import { type Bindings, ok } from './call'
import { readPatiently } from './wait'

type TodoOperations =
  | 'enqueue'
  | 'enqueueMany'
  | 'listTodos'
  | 'getTodo'
  | 'listEvents'
  | 'listChildren'
  | 'editTodo'
  | 'cancel'
  | 'reject'
  | 'requeue'

/** What clients and operators do with todos. */
export const TODO_BINDINGS: Bindings<TodoOperations> = {
  enqueue: async ({ core, caller, body }) => {
    const [made] = await enqueue(core.database, [body], caller)
    if (!made) throw new Error('enqueue answered without a todo')
    return { status: made.created ? 201 : 200, body: made }
  },
  enqueueMany: async ({ core, caller, body }) => {
    const made = await enqueue(core.database, body.todos, caller, { isBatch: true })
    return ok({ results: made.map(({ todo, created }) => ({ id: todo.id, created })) })
  },
  listTodos: async ({ core, caller, query }) => ok(await listTodos(core.database, query, caller)),
  getTodo: async (call) => {
    const { core, caller, params } = call
    const todo = await readPatiently(call, {
      read: () => readTodo(core.database, params.id, caller),
      todoOf: ({ id }) => id,
      isEnough: ({ state }) => isTerminal(state) || STATES[state].kind === 'interrupt',
    })
    return ok(await readDetail(core.database, todo, caller))
  },
  listEvents: async ({ core, caller, params, query }) =>
    ok(await listEvents(core.database, await readTodo(core.database, params.id, caller), query)),
  listChildren: async ({ core, caller, params, query }) =>
    ok(await listChildren(core.database, await readTodo(core.database, params.id, caller), query)),
  editTodo: async ({ core, caller, params, body }) => ok({ todo: await edit(core.database, params.id, caller, body) }),
  cancel: async ({ core, caller, params, body }) =>
    ok({ todo: await cancel(core.database, params.id, caller, body.reason) }),
  reject: async ({ core, caller, params, body }) =>
    ok({ todo: await reject(core.database, params.id, caller, body.reason) }),
  requeue: async ({ core, caller, params, body }) =>
    ok({ todo: await requeue(core.database, params.id, caller, body) }),
}
