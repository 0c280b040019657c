import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { errors } from '@meup/protocol'
import { type Refusal, refuse } from '../core/admission/context.js'
import type { Gateway } from '../host/gateway.js'
import { retryAfter, toProblem } from '../http/problem.js'
import { normalizeAddress } from './address.js'

interface PendingConnectionsOptions {
  readonly gateway: Gateway
  /** Connections of all clients together. */
  readonly maxConnections: number
  /** Whether one address stands for many clients; then the proxy bounds what each of them opens. */
  readonly trustProxy: boolean
}

/** So many connections of one address may take their time; others are given up after this many milliseconds. */
const [maxSlowConnections, slowAfterMs] = [32, 1000]
/** Requests that one connection may send before it has the answer to the first. */
const maxPipelinedRequests = 16

/** What is known of an address that has connections on which nobody has been let in yet. */
interface Waiting {
  all: number
  slow: number
}

/**
 * Limits unauthenticated connections per address: a quarter of the connection limit, of which 32 may take longer than a
 * second.
 */
export class PendingConnections {
  readonly #options: PendingConnectionsOptions
  readonly #addresses = new Map<string, Waiting>()
  /** Ends the wait of a connection, by its socket. */
  readonly #leave = new WeakMap<Socket, () => void>()
  readonly #ahead = new WeakMap<Socket, number>()
  readonly #sockets = new Set<Socket>()

  constructor(options: PendingConnectionsOptions) {
    this.#options = options
  }

  /** For the `connection` event of an HTTP server. */
  arrived(socket: Socket): void {
    const { maxConnections, trustProxy } = this.#options
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    if (this.#sockets.size > maxConnections) {
      this.#refuse(socket, 'unavailable', 'the gateway has as many connections as it can take')
    } else if (!trustProxy) this.#wait(socket, normalizeAddress(socket.remoteAddress ?? '') ?? 'unknown')
  }

  /** Somebody on this connection has shown a valid token, or is a guest. */
  onAuthenticated(socket: Socket): void {
    this.#leave.get(socket)?.()
  }

  /** Whether a request is to be answered: who asks on and on without waiting for answers is cut off. */
  mayAsk({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const ahead = (this.#ahead.get(socket) ?? 0) + 1
    this.#ahead.set(socket, ahead)
    response.once('close', () => this.#ahead.set(socket, (this.#ahead.get(socket) ?? 1) - 1))
    if (ahead > maxPipelinedRequests) socket.destroy()
    return !socket.destroyed
  }

  /** Hangs up on connections that have sent nothing: an HTTP server that closes waits for them as for those that are answered. */
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
    // An immediate comes after what has arrived is read: nobody pays for a gateway that was busy.
    const timer = setTimeout(() => setImmediate(judge), slowAfterMs)
    if (waiting.all > this.#options.maxConnections / 4) this.#tooMany(socket)
  }

  #tooMany(socket: Socket): void {
    this.#refuse(socket, 'rate_limited', 'this address has too many connections that wait to be let in')
  }

  #refuse(socket: Socket, code: 'unavailable' | 'rate_limited', message: string): void {
    this.#options.gateway.refusedJoins.add(code)
    // Into the middle of an answer nothing can be said.
    if (this.#ahead.get(socket)) socket.destroy()
    else rejectSocket(socket, refuse(code, message, slowAfterMs))
  }
}

/** Answers a connection that no HTTP server answers, and ends it: also where its peer keeps its own side open. */
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
 * Cuts connections off on which nothing moves though something should: a request that brings no more of its body, or an
 * answer of which nothing is taken. Whoever waits for an answer that is still being made is left alone.
 */
export class IdleTimeout {
  readonly #ms: number
  /** Requests that are being answered. */
  readonly #asked = new WeakMap<Socket, Set<IncomingMessage>>()
  /** Streams of events: what waits for them is bounded, and they may be silent. */
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

  /** For the `timeout` event of an HTTP server. */
  heard(socket: Socket): void {
    const requests = [...(this.#asked.get(socket) ?? [])]
    const isAwaited = requests.some(({ complete }) => !complete) || socket.writableLength > 0
    const isAtWork = this.#standing.has(socket) || (requests.length > 0 && !isAwaited)
    if (isAtWork) socket.setTimeout(this.#ms)
    else socket.destroy()
  }
}
