import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { HttpBindings } from '@hono/node-server'
import { yieldIfBusy } from '../core/yielding.js'
import type { Gateway } from '../host/gateway.js'
import { createMetrics, lazily } from '../host/metrics.js'
import type { HttpAppOptions } from '../http/app.js'
import type { RouteModule } from '../http/route.js'
import { type Logger, silent } from '../ports/logger.js'
import { getRemoteAddress } from './address.js'
import { createHostCheck } from './host-names.js'
import { IdleTimeout, PendingConnections } from './pending-connections.js'
import { readPageFiles } from './read-page-files.js'
import { WsServer } from './ws-server.js'

export interface ServeOptions {
  readonly gateway: Gateway
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  readonly origins?: readonly string[]
  /** Names of the gateway, in addition to addresses, `localhost` and those of `origins`. */
  readonly hosts?: readonly string[]
  readonly trustProxy?: boolean
  /** Milliseconds between pings; default 20,000. */
  readonly heartbeatMs?: number
  /** Milliseconds between the comments in event streams; default 15,000. */
  readonly eventHeartbeatMs?: number
  /** Milliseconds that a client may take to send its request and authenticate; default 10,000. */
  readonly handshakeTimeoutMs?: number
  /** Milliseconds that a request or the reading of its response may stall; default 30,000. */
  readonly idleTimeoutMs?: number
  /** Folder of the built page that is served at `/`; absent = no page. */
  readonly page?: URL
  /** Routes of other packages, loaded after the gateway listens. */
  readonly modules?: readonly (() => Promise<RouteModule>)[]
  /** Limit of all connections together; default 10,000. */
  readonly maxConnections?: number
  readonly logger?: Logger
}

export interface Served {
  /** Base address, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** Closes the gateway once admitted envelopes are committed and delivered, then closes the remaining sockets. */
  close(): Promise<void>
}

/** Milliseconds that clients have to answer a close frame. */
const farewellMs = 1000
/** Milliseconds that a request may take to arrive, including its body. */
const requestMs = 120_000
/** Milliseconds that a connection may be idle between two requests. */
const idleMs = 5000
/** Bytes of all headers together, enough for the longest tokens. */
const maxHeaderSize = 16 * 1024

/** Serves a gateway over HTTP and WebSocket. Rejects if it cannot listen, or the page cannot be read. */
export async function serve(options: ServeOptions): Promise<Served> {
  const {
    gateway,
    host,
    port,
    origins = [],
    hosts = [],
    trustProxy = false,
    heartbeatMs = 20_000,
    eventHeartbeatMs = 15_000,
    handshakeTimeoutMs = 10_000,
    idleTimeoutMs = 30_000,
    maxConnections = 10_000,
    page,
    modules = [],
    logger = silent,
  } = options
  const silence = new IdleTimeout(idleTimeoutMs)
  const pendingConnections = new PendingConnections({ gateway, maxConnections, trustProxy })
  const metrics = createMetrics(gateway)
  const checkHost = createHostCheck({ host, hosts, origins, trustProxy })
  const http: HttpAppOptions = {
    gateway,
    logger,
    origins,
    ...(checkHost && { checkHost }),
    eventHeartbeatMs,
    ...(page && { page: readPageFiles(page) }),
    metrics: metrics.read,
    getRemoteAddress: ({ env }) =>
      getRemoteAddress((env as HttpBindings).incoming as IncomingMessage, trustProxy),
    onAuthenticated: ({ env }) =>
      pendingConnections.onAuthenticated((env as HttpBindings).incoming.socket as Socket),
    hangUp: ({ env }) => (env as HttpBindings).outgoing.destroy(),
    over: ({ env }, then) => (env as HttpBindings).outgoing.once('close', then),
    standing: ({ env }) => silence.stands((env as HttpBindings).incoming.socket as Socket),
  }
  const onAuthenticated = (socket: Socket): void => pendingConnections.onAuthenticated(socket)
  const sockets = new WsServer({
    gateway,
    origins,
    ...(checkHost && { checkHost }),
    trustProxy,
    heartbeatMs,
    handshakeTimeoutMs,
    logger,
    onAuthenticated,
  })
  const server = createServer({
    headersTimeout: handshakeTimeoutMs,
    requestTimeout: Math.max(handshakeTimeoutMs, requestMs),
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(handshakeTimeoutMs, 1000),
    maxHeaderSize,
  })
  server.on('connection', (socket) => pendingConnections.arrived(socket))
  const answering = lazily(() => loadApp(http, modules))
  server.timeout = idleTimeoutMs
  server.on('timeout', (socket) => silence.heard(socket))
  server.on('request', (request, response) => {
    if (!pendingConnections.mayAsk(request, response)) return
    silence.asked(request, response)
    answering().then(
      async (answer) => {
        await yieldIfBusy() // Frames on sockets need not wait for many responses.
        if (!response.closed) await answer(request, response)
      },
      () => response.writeHead(503).end(), // The error is logged once, below, and not per request.
    )
  })
  server.on('upgrade', (request, socket, head) => {
    sockets.upgrade(request, socket as Socket, head).catch((err: unknown) => {
      logger.error({ err }, 'an upgrade failed')
      socket.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  // Loads the modules that are not needed to listen; requests wait for them.
  Promise.all([answering(), metrics.begin()]).catch((err: unknown) => {
    logger.error({ err }, 'HTTP requests cannot be answered')
  })
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    async close() {
      await gateway.close()
      const closed = new Promise((resolve) => server.close(resolve))
      pendingConnections.closeSilent()
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, farewellMs).unref())])
      sockets.close()
      server.closeAllConnections()
      await closed
    },
  }
}

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>

async function loadApp(
  options: HttpAppOptions,
  loaders: NonNullable<ServeOptions['modules']>,
): Promise<Answer> {
  const [{ createHttpApp }, { getRequestListener }, ...modules] = await Promise.all([
    import('../http/app.js'),
    import('@hono/node-server'),
    ...loaders.map((load) => load()),
  ])
  return getRequestListener(createHttpApp({ ...options, modules }).fetch)
}
