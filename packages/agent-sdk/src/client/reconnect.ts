import { invalidNumberError } from './errors.js'

/** When, and how often, a lost connection is retried. */
export interface ReconnectOptions {
  /**
   * Milliseconds; default 250. The wait before the first attempt is random between 0 and this. The upper bound doubles with
   * each failure.
   */
  readonly minMs?: number
  /** Maximum milliseconds of a wait; default 30,000. */
  readonly maxMs?: number
  /** Maximum failed attempts in a row; default `Infinity`. 0 = a lost connection closes the client. */
  readonly retries?: number
  /**
   * Called before each attempt with the error, and the number of the attempt since the last welcome, starting at 1. `false`
   * closes the client with that error. Not called after final refusals, such as an invalid token.
   */
  readonly shouldRetry?: (error: Error, attempt: number) => boolean
}

/** Deadlines of a connection in milliseconds. When one passes, the connection is closed and retried. `Infinity` = never. */
export interface LineDeadlines {
  /** Time for TCP, TLS and the WebSocket handshake; default 10,000. */
  readonly handshakeMs?: number
  /** Time from the handshake to the welcome; default 10,000. */
  readonly welcomeMs?: number
  /** Time without a received byte, including pings; default 50,000. Browsers count frames instead of bytes. */
  readonly silenceMs?: number
}

/** Checks the options and applies defaults. Throws `ConnectionError` `not_configured` for invalid values. */
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

/** Checks the deadlines and applies defaults. Throws `ConnectionError` `not_configured` for invalid values. */
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
  if (!(value >= minimum)) throw invalidNumberError(name, value, minimum)
}
