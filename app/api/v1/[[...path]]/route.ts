import { handlers } from '#lib/api/next-route'

export const { DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT } = handlers
