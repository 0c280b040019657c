import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { errors } from '@meup/protocol'
import { type Refusal, refuse } from '../core/refusal.js'
import { texts } from '../core/refusal-texts.js'
import type { Gateway } from '../host/gateway.js'
import { retryAfter, toProblem } from '../http/problem.js'
import { normalizeAddress } from './address.js'

interface PendingConnectionsOptions {
  readonly gateway: Gateway
  /** Limit of all connections together. */
  readonly maxConnections: number
  /** Whether one address may have many clients; the proxy then limits the connections of each. */
  readonly trustProxy: boolean
}

/** Maximum unauthenticated connections of one address that may take longer than `slowAfterMs`; the others are then closed. */
const [maxSlowConnections, slowAfterMs] = [32, 1000]
/** Requests of one connection before the first is answered. */
const maxPipelinedRequests = 16

/** Counts of an address with unauthenticated connections. */
interface Waiting {
  all: number
  slow: number
}

/**
 * Limits unauthenticated connections per address: a quarter of the connection limit, of which 32 may take longer than a second.
 */
export class PendingConnections {
  readonly #options: PendingConnectionsOptions
  readonly #addresses = new Map<string, Waiting>()
  /** Functions that stop counting a connection, by its socket. */
  readonly #leave = new WeakMap<Socket, () => void>()
  readonly #ahead = new WeakMap<Socket, number>()
  readonly #sockets = new Set<Socket>()

  constructor(options: PendingConnectionsOptions) {
    this.#options = options
  }

  /** Handles the `connection` event of an HTTP server. */
  arrived(socket: Socket): void {
    const { maxConnections, trustProxy } = this.#options
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    if (this.#sockets.size > maxConnections) {
      this.#refuse(socket, 'unavailable', texts.fullGateway)
    } else if (!trustProxy) this.#wait(socket, normalizeAddress(socket.remoteAddress ?? '') ?? 'unknown')
  }

  /** Stops counting a connection, because it is authenticated or belongs to a guest. */
  onAuthenticated(socket: Socket): void {
    this.#leave.get(socket)?.()
  }

  /** Whether a request may be answered: a client that pipelines too many requests is disconnected. */
  mayAsk({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const ahead = (this.#ahead.get(socket) ?? 0) + 1
    this.#ahead.set(socket, ahead)
    response.once('close', () => this.#ahead.set(socket, (this.#ahead.get(socket) ?? 1) - 1))
    if (ahead > maxPipelinedRequests) socket.destroy()
    return !socket.destroyed
  }

  /** Closes connections that have not sent any bytes: a closing HTTP server would wait for them. */
  closeSilent(): void {
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy()
  }

  #wait(socket: Socket, address: string): void {
    const waiting = this.#addresses.get(address) ?? { all: 0, slow: 0 }
    this.#addresses.set(address, waiting)
    waiting.all++
    let isSlow = false
    const leave = (): void => {
      if (!this.#leave.delete(socket)) return
      clearTimeout(timer)
      waiting.all--
      if (isSlow) waiting.slow--
      if (waiting.all === 0) this.#addresses.delete(address)
    }
    const judge = (): void => {
      if (!this.#leave.has(socket)) return
      isSlow = waiting.slow < maxSlowConnections
      if (isSlow) waiting.slow++
      else this.#tooMany(socket)
    }
    this.#leave.set(socket, leave)
    socket.once('close', leave)
    // Judges in an immediate, which runs after pending input is read, so that clients are not punished for a busy gateway.
    const timer = setTimeout(() => setImmediate(judge), slowAfterMs)
    if (waiting.all > this.#options.maxConnections / 4) this.#tooMany(socket)
  }

  #tooMany(socket: Socket): void {
    this.#refuse(socket, 'rate_limited', texts.crowdedAddress)
  }

  #refuse(socket: Socket, code: 'unavailable' | 'rate_limited', message: string): void {
    this.#options.gateway.refusedJoins.add(code)
    // The refusal cannot be sent in the middle of another response.
    if (this.#ahead.get(socket)) socket.destroy()
    else rejectSocket(socket, refuse(code, message, {}, { retryAfterMs: slowAfterMs }))
  }
}

/** Answers a connection that the HTTP server does not handle, and closes it even if the peer keeps its side open. */
export function rejectSocket(socket: Socket, refusal: Refusal): void {
  const body = JSON.stringify(toProblem(refusal))
  const headers = {
    connection: 'close',
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    ...retryAfter(refusal),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${errors[refusal.code].status} ${refusal.code}\r\n${lines.join('')}\r\n${body}`)
  socket.destroySoon()
}

/**
 * Closes stalled connections: a request whose body stops arriving, or a response that is not read. A response that is still
 * being made is not a stall.
 */
export class IdleTimeout {
  readonly #ms: number
  /** Requests with pending responses. */
  readonly #asked = new WeakMap<Socket, Set<IncomingMessage>>()
  /** Sockets of event streams. They never count as stalled: they may be silent, and their unsent bytes have another limit. */
  readonly #standing = new WeakSet<Socket>()

  constructor(ms: number) {
    this.#ms = ms
  }

  asked(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    const requests = this.#asked.get(socket) ?? new Set()
    this.#asked.set(socket, requests.add(request))
    response.once('close', () => {
      requests.delete(request)
      this.#standing.delete(socket)
    })
  }

  stands(socket: Socket): void {
    this.#standing.add(socket)
  }

  /** Handles the `timeout` event of an HTTP server. */
  heard(socket: Socket): void {
    const requests = [...(this.#asked.get(socket) ?? [])]
    const isAwaited = requests.some(({ complete }) => !complete) || socket.writableLength > 0
    const isAtWork = this.#standing.has(socket) || (requests.length > 0 && !isAwaited)
    if (isAtWork) socket.setTimeout(this.#ms)
    else socket.destroy()
  }
}
