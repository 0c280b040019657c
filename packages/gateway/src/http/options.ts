import type { Context } from 'hono'
import { readBearerToken } from '../host/connection-gate.js'
import type { ConnectRequest, Gateway } from '../host/gateway.js'
import type { Logger } from '../ports/logger.js'
import type { Traffic } from './traffic.js'

export interface HttpOptions {
  readonly gateway: Gateway
  readonly logger: Logger
  /** Browser origins that are allowed beside the gateway's own host. */
  readonly origins: readonly string[]
  /** Milliseconds between the comments that keep a stream of events open. */
  readonly eventHeartbeatMs: number
  /** What the gateway counts, as text for Prometheus. */
  metrics(): Promise<{ readonly text: string; readonly type: string }>
  /** The document of all routes. */
  openApi(): object
  /** What is under way. */
  readonly traffic: Traffic
  /** Address of the peer of a request. */
  getRemoteAddress(context: Context): string
  /** Calls back when a request has been answered, or its connection is gone. */
  over(context: Context, then: () => void): void
  /** Tells that an answer is a stream, which may be silent for as long as it likes. */
  standing(context: Context): void
  /** Called when the sender of a request is known and may come in. */
  onAuthenticated(context: Context): void
  /** Cuts the connection of a request, whatever still waits to be sent. */
  hangUp(context: Context): void
}

/** Who asks, and for which space. */
export function readConnectRequest(
  context: Context,
  { getRemoteAddress, onAuthenticated }: Pick<HttpOptions, 'getRemoteAddress' | 'onAuthenticated'>,
): ConnectRequest {
  const token = readBearerToken(context.req.header('authorization'))
  return {
    space: context.req.param('space') ?? '',
    remote: getRemoteAddress(context),
    onAuthenticated: () => onAuthenticated(context),
    ...(token !== undefined && { token }),
  }
}
