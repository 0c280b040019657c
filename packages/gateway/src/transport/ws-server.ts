import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { BYE, closeCodes, isEnvelopeId, Kind, SUBPROTOCOL } from '@meup/protocol'
import { type WebSocket, WebSocketServer } from 'ws'
import { isRefusal, type Refusal, refuse } from '../core/refusal.js'
import { texts } from '../core/refusal-texts.js'
import { checkResume, inspect, type Resume, readBearerToken } from '../host/connection-gate.js'
import type { ConnectionHandle } from '../host/connection-handle.js'
import type { ConnectionGrant, ConnectRequest, Gateway } from '../host/gateway.js'
import { messageFrom, type OutboundBatch } from '../ports/connection.js'
import type { Logger } from '../ports/logger.js'
import { getRemoteAddress } from './address.js'
import type { HostCheck } from './host-names.js'
import { rejectSocket } from './pending-connections.js'
import { PortionReader, TurnShares, toBytes, WsConnection } from './ws-connection.js'

interface WsServerOptions {
  readonly gateway: Gateway
  /** Allowed browser origins, in addition to the gateway's own host. */
  readonly origins: readonly string[]
  readonly checkHost?: HostCheck
  readonly trustProxy: boolean
  readonly heartbeatMs: number
  /** Milliseconds for authenticating a request. */
  readonly handshakeTimeoutMs: number
  readonly logger: Logger
  /** Called when a request for a socket is authenticated, so that the connection stops counting as unauthenticated. */
  onAuthenticated(socket: Socket): void
}

declare module 'ws' {
  interface ServerOptions {
    /** Milliseconds that ws waits for the answer to a close frame; its types lack this option. */
    closeTimeout?: number
    maxPendingAutoPongs?: number
  }
}

/** Milliseconds for answering a close; a peer that does not read is disconnected after that. */
const closeGraceMs = 2000
/** Fragments per message: small fragments cost more than their bytes. `ws` closes with 1008 beyond this. */
const maxFragments = 1024

/** State of an open socket for its pings and ticks. */
interface Peer {
  readonly reader: PortionReader
  /** Pings that the peer has not answered. */
  missed: number
  /** The connection that gets ticks; `undefined` = no ticks requested, or no welcome sent yet. */
  ticked: Pick<WsConnection, 'send'> | undefined
}

/** Ticks for clients that do not see pings, encoded once [MEUP-5.18]. */
const tick: OutboundBatch = { messages: [messageFrom({ kind: Kind.systemTick })] }

/** Opens sockets on `GET /spaces/{space}/ws` [MEUP-5.1]. */
export class WsServer {
  readonly #options: WsServerOptions
  /** WebSocket servers, by the largest frame that they accept. */
  readonly #servers = new Map<number, WebSocketServer>()
  readonly #peers = new Map<WebSocket, Peer>()
  readonly #shares = new TurnShares()
  readonly #heartbeat: NodeJS.Timeout

  constructor(options: WsServerOptions) {
    this.#options = options
    this.#heartbeat = setInterval(() => this.#ping(), options.heartbeatMs)
    this.#heartbeat.unref()
  }

  /** Handles the `upgrade` event of an HTTP server. */
  async upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy())
    const { gateway, handshakeTimeoutMs, onAuthenticated } = this.#options
    const upgrade = readUpgrade(request, this.#options)
    if (isRefusal(upgrade)) {
      gateway.refusedJoins.add(upgrade.code)
      return rejectSocket(socket, upgrade)
    }
    const overdue = setTimeout(() => socket.destroy(), handshakeTimeoutMs)
    socket.once('close', () => clearTimeout(overdue))
    const grant = await gateway.admit({ ...upgrade, onAuthenticated: () => onAuthenticated(socket) })
    clearTimeout(overdue)
    if (isRefusal(grant)) return rejectSocket(socket, grant)
    const server = this.#serverFor(gateway.frameLimit(upgrade.space))
    server.handleUpgrade(request, socket, head, (ws) => this.#serve(ws, socket, upgrade, grant))
  }

  close(): void {
    clearInterval(this.#heartbeat)
    for (const ws of this.#peers.keys()) ws.terminate()
  }

  #serverFor(maxPayload: number): WebSocketServer {
    let server = this.#servers.get(maxPayload)
    if (server === undefined) {
      server = new WebSocketServer({
        noServer: true,
        clientTracking: false,
        maxPayload,
        maxFragments,
        // Permits a message in chunks of 256 bytes on average.
        maxBufferedChunks: Math.max(4096, maxPayload / 256),
        // Pongs that may wait to be sent; with more, the client is disconnected, because it sends pings and does not read the
        // pongs.
        maxPendingAutoPongs: 1024,
        perMessageDeflate: false,
        closeTimeout: closeGraceMs,
        handleProtocols: () => SUBPROTOCOL,
      })
      this.#servers.set(maxPayload, server)
    }
    return server
  }

  /** Serves an upgraded socket. Frames that arrive before the connection is open wait in the socket. */
  #serve(ws: WebSocket, socket: Socket, upgrade: Upgrade, grant: ConnectionGrant): void {
    const { logger } = this.#options
    const connection = new WsConnection(ws, socket, upgrade.remote)
    let line: ConnectionHandle | undefined
    const shareKey = `${upgrade.space} ${grant.rateLimitKey}`
    const share = this.#shares.enter(shareKey)
    const reader = new PortionReader(socket, share, () => line?.whenWritable())
    const peer: Peer = { reader, missed: 0, ticked: undefined }
    this.#peers.set(ws, peer)
    ws.on('message', (data, isBinary) => {
      peer.missed = 0
      reader.countFrame()
      // Ignores frames of an ended socket: `ws` still reads the bytes that it has buffered.
      if (!socket.destroyed) line?.receive(toBytes(data), isBinary)
    })
    const receiveControl = (): void => {
      reader.countFrame()
      line?.receiveControl()
    }
    ws.on('ping', receiveControl)
    ws.on('pong', () => {
      peer.missed = 0
      receiveControl()
    })
    ws.on('error', (err) => logger.warn({ participant: grant.participant, err }, 'a connection failed'))
    let isBye = false
    ws.on('close', (_code, reason) => {
      this.#peers.delete(ws)
      this.#shares.leave(shareKey)
      isBye = reason.toString() === BYE
      line?.closed(isBye)
    })
    grant.open(connection, upgrade.resume).then(
      (opened) => {
        line = opened
        if (upgrade.hasTicks) peer.ticked = connection
        if (ws.readyState === ws.CLOSED) opened.closed(isBye)
        reader.resume()
      },
      (err: unknown) => {
        logger.error({ participant: grant.participant, err }, 'a connection could not be opened')
        ws.close(closeCodes.draining, 'the space cannot be opened; reconnect later')
      },
    )
  }

  /** Pings every peer, or closes it if it has not answered two pings [MEUP-5.7]. */
  #ping(): void {
    for (const [ws, peer] of this.#peers) {
      // Pongs of a paused socket are not read, so its missed pings do not count.
      if (peer.reader.isHeld) peer.missed = 0
      else if (peer.missed++ >= 2) {
        // Sends a close frame first: destroying the socket at once would lose the reason.
        ws.close(closeCodes.heartbeatLost, 'no answer to two pings')
        continue
      }
      ws.ping()
      peer.ticked?.send(tick)
    }
  }
}

interface Upgrade extends ConnectRequest {
  readonly resume: Resume
  /** Whether the client requested ticks, because it does not see pings. */
  readonly hasTicks: boolean
}

/** Reads a request for a socket: path, token, origin, resume position [MEUP-5.1, MEUP-5.2]. */
function readUpgrade(
  request: IncomingMessage,
  { origins, checkHost, trustProxy }: Pick<WsServerOptions, 'origins' | 'checkHost' | 'trustProxy'>,
): Upgrade | Refusal {
  const target = request.url ?? '/'
  if (!URL.canParse(target, 'http://gateway')) return refuse('invalid_request', texts.invalidUrl)
  const url = new URL(target, 'http://gateway')
  const space = /^\/spaces\/([^/]+)\/ws$/.exec(url.pathname)?.[1]
  if (space === undefined) return refuse('not_found', texts.noSocket, { path: url.pathname })
  const { origin, host } = request.headers
  const refusal = checkHost?.(host) ?? inspect({ query: url.searchParams, origin, host }, origins)
  if (refusal !== undefined) return refusal
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
  if (!offered.includes(SUBPROTOCOL))
    return refuse('unsupported_protocol', texts.missingSubprotocol, { name: SUBPROTOCOL })
  const token =
    readBearerToken(request.headers.authorization) ??
    offered.find((name) => name.startsWith('bearer.'))?.slice(7)
  const resume = readResume(url.searchParams)
  if (isRefusal(resume)) return resume
  const flags = readFlags(url.searchParams)
  if (isRefusal(flags)) return flags
  const session = url.searchParams.get('session')
  if (session !== null && !isEnvelopeId(session)) return refuse('invalid_request', texts.invalidSession)
  const remote = getRemoteAddress(request, trustProxy)
  return {
    ...{ space, remote, resume, hasTicks: flags.tick, holds: flags.hold },
    ...(token && { token }),
    ...(session !== null && { session }),
  }
}

function readFlags(query: URLSearchParams): Record<'tick' | 'hold', boolean> | Refusal {
  const flags = { tick: false, hold: false }
  for (const name of ['tick', 'hold'] as const) {
    const text = query.get(name) ?? '0'
    if (text !== '0' && text !== '1')
      return refuse('invalid_request', texts.invalidFlag, { name, value: text })
    flags[name] = text === '1'
  }
  return flags
}

function readResume(query: URLSearchParams): Resume | Refusal {
  const numbers: { after?: number; tail?: number } = {}
  for (const name of ['after', 'tail'] as const) {
    const text = query.get(name)
    if (text === null) continue
    const value = Number(text)
    if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(value))
      return refuse('invalid_request', texts.invalidNumber, { name, value: text })
    numbers[name] = value
  }
  const epoch = query.get('epoch')
  const resume = { ...numbers, ...(epoch !== null && { epoch }) }
  return checkResume(resume) ?? resume
}
