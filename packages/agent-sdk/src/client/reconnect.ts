import { ConnectionError } from './errors.js'

/** When and how often a lost connection is retried. */
export interface ReconnectOptions {
  /** The wait before the first attempt is drawn from 0 to this [milliseconds]; default 250. It doubles with each failure. */
  readonly minMs?: number
  /** The longest wait [milliseconds]; default 30,000. */
  readonly maxMs?: number
  /** Attempts in a row that may fail; default `Infinity`. 0 = a lost connection closes the client. */
  readonly retries?: number
  /**
   * Called before each attempt with the error and the number of the attempt since the last welcome, from 1. `false` closes the
   * client with that error. Not called after final refusals, such as a wrong token.
   */
  readonly shouldRetry?: (error: Error, attempt: number) => boolean
}

/** Deadlines of a connection in milliseconds, after which it is given up and retried. `Infinity` = never. */
export interface LineDeadlines {
  /** For TCP, TLS and the handshake of the WebSocket; default 10,000. */
  readonly handshakeMs?: number
  /** For the welcome after that; default 10,000. */
  readonly welcomeMs?: number
  /** Without a byte, pings included; default 50,000. Pages count frames instead of bytes. */
  readonly silenceMs?: number
}

/** Throws `ConnectionError` `not_configured` for invalid values. */
export function resolveReconnect({
  minMs = 250,
  maxMs = 30_000,
  retries = Number.POSITIVE_INFINITY,
  shouldRetry = () => true,
}: ReconnectOptions = {}): Required<ReconnectOptions> {
  check('reconnect.minMs', minMs, 1)
  check('reconnect.maxMs', maxMs, 1)
  check('reconnect.retries', retries, 0)
  return { minMs, maxMs, retries, shouldRetry }
}

/** Throws `ConnectionError` `not_configured` for invalid values. */
export function resolveDeadlines({
  handshakeMs = 10_000,
  welcomeMs = 10_000,
  silenceMs = 50_000,
}: LineDeadlines = {}): Required<LineDeadlines> {
  check('deadlines.handshakeMs', handshakeMs, 1)
  check('deadlines.welcomeMs', welcomeMs, 1)
  check('deadlines.silenceMs', silenceMs, 1)
  return { handshakeMs, welcomeMs, silenceMs }
}

function check(name: string, value: number, minimum: number): void {
  if (value >= minimum) return
  throw new ConnectionError('not_configured', `${name} is ${value}; set a number from ${minimum} on`, {
    details: { option: name },
  })
}
