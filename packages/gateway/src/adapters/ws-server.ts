import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { closeCodes, SUBPROTOCOL } from '@meup/protocol'
import { type WebSocket, WebSocketServer } from 'ws'
import { type Denial, isDenial } from '../gateway/door.js'
import type { Gateway, Line, Ticket } from '../gateway/gateway.js'
import { problemOf } from '../http/problem.js'
import type { Logger } from '../ports/logger.js'
import { readUpgrade, type Upgrade } from './upgrade.js'
import { bytesOf, WsConnection } from './ws-connection.js'

export interface WsServerOptions {
  readonly gateway: Gateway
  /** Browser origins that are allowed beside the gateway's own host. */
  readonly origins: readonly string[]
  readonly trustProxy: boolean
  readonly heartbeatMs: number
  readonly logger: Logger
}

declare module 'ws' {
  interface ServerOptions {
    /** Milliseconds; ws has it, its types do not say so. */
    closeTimeout?: number
  }
}

/** How long a peer may take to answer a close: one that reads nothing is gone soon after it was told. */
const closeGraceMs = 2000

/** Opens sockets on `GET /spaces/{space}/ws` [MEUP-5.1]. */
export class WsServer {
  readonly #options: WsServerOptions
  /** By the largest frame each takes. */
  readonly #servers = new Map<number, WebSocketServer>()
  /** Pings each socket has left unanswered. */
  readonly #silent = new Map<WebSocket, number>()
  readonly #heartbeat: NodeJS.Timeout

  constructor(options: WsServerOptions) {
    this.#options = options
    this.#heartbeat = setInterval(() => this.#ping(), options.heartbeatMs)
    this.#heartbeat.unref()
  }

  /** For the `upgrade` event of an HTTP server. */
  async upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy())
    const upgrade = readUpgrade(request, this.#options)
    if (isDenial(upgrade)) {
      this.#options.gateway.refusedJoins.add(upgrade.code)
      return refuse(socket, upgrade)
    }
    const ticket = await this.#options.gateway.admit(upgrade)
    if (isDenial(ticket)) return refuse(socket, ticket)
    const server = this.#serverFor(this.#options.gateway.frameLimit(upgrade.space))
    server.handleUpgrade(request, socket, head, (ws) => this.#serve(ws, socket, upgrade, ticket))
  }

  close(): void {
    clearInterval(this.#heartbeat)
    for (const ws of this.#silent.keys()) ws.terminate()
  }

  #serverFor(maxPayload: number): WebSocketServer {
    let server = this.#servers.get(maxPayload)
    if (server === undefined) {
      server = new WebSocketServer({
        noServer: true,
        clientTracking: false,
        maxPayload,
        perMessageDeflate: false,
        closeTimeout: closeGraceMs,
        handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
      })
      this.#servers.set(maxPayload, server)
    }
    return server
  }

  /** Frames that arrive before the line is open wait in the socket. */
  #serve(ws: WebSocket, socket: Socket, upgrade: Upgrade, ticket: Ticket): void {
    const { logger } = this.#options
    const connection = new WsConnection(ws, socket, upgrade.remote)
    let line: Line | undefined
    this.#silent.set(ws, 0)
    ws.pause()
    ws.on('message', (data, isBinary) => {
      this.#silent.set(ws, 0)
      line?.receive(bytesOf(data), isBinary)
    })
    ws.on('pong', () => this.#silent.set(ws, 0))
    ws.on('error', (err) => logger.warn({ participant: ticket.participant, err }, 'a connection failed'))
    ws.on('close', () => {
      this.#silent.delete(ws)
      line?.closed()
    })
    ticket.open(connection, upgrade.resume).then(
      (opened) => {
        line = opened
        if (ws.readyState === ws.CLOSED) opened.closed()
        ws.resume()
      },
      (err: unknown) => {
        logger.error({ participant: ticket.participant, err }, 'a connection could not be opened')
        ws.close(closeCodes.draining, 'the space cannot be opened; reconnect later')
      },
    )
  }

  /** Gone after two silent pings [MEUP-5.7]. */
  #ping(): void {
    for (const [ws, missed] of this.#silent) {
      if (missed >= 2) {
        ws.close(closeCodes.heartbeatLost, 'no answer to two pings')
        ws.terminate()
      } else {
        this.#silent.set(ws, missed + 1)
        ws.ping()
      }
    }
  }
}

function refuse(socket: Socket, denial: Denial): void {
  const body = JSON.stringify(problemOf(denial))
  const lines = [
    `HTTP/1.1 ${denial.status} ${denial.code}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(denial.retryAfterMs ? [`Retry-After: ${Math.ceil(denial.retryAfterMs / 1000)}`] : []),
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
}
