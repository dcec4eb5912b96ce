import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket, connect as tcpConnect } from 'node:net'

/** A TCP proxy in front of a server, by which a test can disturb what goes through it. */
export interface Proxy {
  /** The server's URL, through the proxy. */
  url: string
  /** From now on nothing passes on the present connections, though they stay open; new ones work. */
  freeze(): void
  /** Ends the present connections. */
  cut(): void
  /** Ends the present connections and refuses new ones, until `open`. */
  close(): Promise<void>
  open(): Promise<void>
}

/** Starts a proxy on a free port of loopback. */
export async function startProxy(url: string): Promise<Proxy> {
  const target = new URL(url)
  const pairs = new Set<[Socket, Socket]>()
  let server: Server = await listenOn(0, accept)
  const { port } = server.address() as AddressInfo

  function accept(client: Socket): void {
    const upstream = tcpConnect(Number(target.port), target.hostname)
    const pair: [Socket, Socket] = [client, upstream]
    pairs.add(pair)
    client.pipe(upstream).pipe(client)
    for (const socket of pair) {
      socket.on('error', () => {})
      socket.on('close', () => {
        pairs.delete(pair)
        for (const other of pair) other.destroy()
      })
    }
  }

  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
  }
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String(port)
  return {
    url: through.href,
    freeze: () => {
      for (const [client, upstream] of pairs) {
        client.unpipe(upstream).pause()
        upstream.unpipe(client).pause()
      }
    },
    cut,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      cut()
      await closed
    },
    open: async () => {
      server = await listenOn(port, accept)
    },
  }
}

function listenOn(port: number, accept: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer(accept)
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}
