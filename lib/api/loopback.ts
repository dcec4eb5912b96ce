import type { IncomingMessage } from 'node:http'

const OWN_MACHINE = /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$|^::1$/

const FORWARDING = new Set(['forwarded', 'via', 'x-real-ip', 'x-client-ip', 'true-client-ip', 'cf-connecting-ip'])

/** Whether the socket's peer is this machine and no header tells of a proxy between. */
export const isLoopback = ({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): boolean =>
  OWN_MACHINE.test(socket.remoteAddress ?? '') && !Object.keys(headers).some(tellsOfProxy)

const tellsOfProxy = (header: string): boolean => header.startsWith('x-forwarded') || FORWARDING.has(header)
