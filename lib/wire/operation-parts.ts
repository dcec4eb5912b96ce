import * as queries from './queries'

/** The path of one todo. */
export const TODO = '/api/v1/todos/{id}'

/** What an operator does to one todo, and whoever else a row names. */
export const onTodo = { method: 'POST', role: 'operator', params: queries.idParams, writes: true } as const
