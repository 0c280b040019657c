import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

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
