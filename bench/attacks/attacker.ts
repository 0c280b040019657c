import { Agent, request } from 'node:http'
import { meup, spaceName } from '../load/dialects.js'
import { openLine } from '../load/line.js'
import { pause } from '../load/waiting.js'
import { tokenOf } from '../peers/space.js'
import { attackerName, attacks } from './attacks.js'

/** A connection of the attacker. It ignores the messages that it receives. */
export interface HostileLine {
  readonly isOpen: boolean
  /** Sends bytes. Resolves when the peer has received them, or the connection is closed. */
  write(bytes: Buffer): Promise<void>
  stopReading(): Promise<void>
  close(): void
}

export interface Attacker {
  readonly epoch: string
  /** Keeps `count` connections open: replaces each one that ends. `use` is called with each new connection. */
  keepOpen(count: number, use: (line: HostileLine) => Promise<unknown>, query?: string): Promise<unknown>
  /** Keeps `count` event streams open: replaces each one that ends. */
  stream(count: number, path: string): Promise<unknown>
  /** Sends requests with invalid tokens on this many connections, each as soon as the previous one is answered. */
  askAsStranger(count: number): Promise<unknown>
}

/** Milliseconds before a connection that ended is replaced. */
const backMs = 5
/** Milliseconds after which a reader that reads nothing reconnects. */
const silentMs = 10_000
const nothing = { least: Number.POSITIVE_INFINITY, maximum: 0 }

function attackerOn(port: number, epoch: string): Attacker {
  const forEach = (count: number, once: () => Promise<unknown>): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, async () => {
        for (;;) {
          await once().catch(() => {})
          await pause(backMs)
        }
      }),
    )

  const get = (path: string, token: string, agent?: Agent): Promise<void> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` }
      const asked = request({ port, path: `/spaces/${spaceName}${path}`, headers, ...(agent && { agent }) })
      asked.on('error', reject).on('response', (response) => {
        response.on('error', reject).on('close', resolve).resume()
      })
      asked.end()
    })

  return {
    epoch,
    keepOpen: (count, use, query = '') =>
      forEach(count, async () => {
        const line = await open(port, query)
        await use(line)
      }),
    stream: (count, path) => forEach(count, () => get(path, tokenOf(attackerName))),
    askAsStranger: (count) => {
      const agent = new Agent({ keepAlive: true, maxSockets: count })
      return forEach(count, () => get('/envelopes', 'a-wrong-token', agent))
    },
  }
}

/** Opens a connection. Ignores errors: if the gateway closes the connection, it is replaced. */
async function open(port: number, query: string): Promise<HostileLine> {
  const dialect = { ...meup, readyAtOnce: true, other: () => ({}) }
  const seat = { participant: attackerName, token: tokenOf(attackerName), query }
  const { socket, failed } = await openLine({ port, dialect }, seat, nothing)
  let isOpen = true
  const closed = failed.catch(() => {
    isOpen = false
  })
  return {
    get isOpen() {
      return isOpen
    },
    async write(bytes) {
      if (socket.write(bytes)) return pause(0)
      await Promise.race([closed, new Promise((resolve) => socket.once('drain', resolve))])
    },
    async stopReading() {
      socket.pause()
      // A paused socket emits no `close`, so the connection is replaced after a fixed time.
      await pause(silentMs)
      socket.destroy()
    },
    close: () => socket.destroy(),
  }
}

const [names = '', port = '', epoch = ''] = process.argv.slice(2)
await Promise.all(names.split(',').map((name) => attacks[name]?.(attackerOn(Number(port), epoch))))
