import type { SafetySettings } from '@meup/safety'
import { notAnAddressError } from './errors.js'
import type { OpenProposal } from './proposal.js'
import type { LineDeadlines, ReconnectOptions } from './reconnect.js'

/** The HTTP address of a gateway, and the token to identify with. */
export interface HttpTarget {
  /** Base address of the gateway, such as `http://127.0.0.1:8080`. */
  readonly url: string
  readonly space: string
  /** Absent = connects as a guest, if the space admits guests. */
  readonly token?: string
  /** Makes the HTTP requests; default: the global `fetch`. */
  readonly fetch?: Fetch
}

export type Fetch = (url: URL, init: RequestInit) => Promise<Response>

/**
 * The address, identity and options of a connection. `after`: the seq after which to resume in the log with the id `epoch`;
 * `tail`: number of latest envelopes to receive [MEUP-5.2].
 */
export interface DialRequest extends HttpTarget {
  readonly after?: number
  readonly epoch?: string
  readonly tail?: number
  /**
   * Session id of the program [MEUP-2.14]: 1 to 64 of A-Z a-z 0-9 _ -. When the program ends, the gateway closes its open calls
   * and contexts. If the participant may have only one program, it replaces the previous one. Absent = no session.
   */
  readonly session?: string
  /** Masking of thoughts and rationales by this client, in addition to the default rules; `false` = only the gateway masks. */
  readonly safety?: false | Partial<SafetySettings>
  /** Whether requests carry a `traceparent`, so that their spans join the caller's trace. */
  readonly tracing?: boolean
  /** Folder for transcripts of this participant's models; absent = not stored. */
  readonly transcripts?: string
  /** Open proposals before connecting, from `HttpClient.readProposals`; initial content of `SpaceClient.proposals`. */
  readonly proposals?: readonly OpenProposal[]
  /** How a lost connection is restored. Does not apply to the first attempt: `connect` rejects if it fails. */
  readonly reconnect?: ReconnectOptions
  /** Like the event `reconnecting`: called when the connection was lost, and the next attempt starts after `inMs`. */
  readonly onReconnecting?: (inMs: number, reason: string) => void
  /**
   * Handling of messages and MCP requests that arrive before a handler is registered. `keep`, the default: they wait for the
   * first call of `answer()`, `turns()`, `agent()`, `tool()` or `serve()`; requests for ten seconds at most. `decline`, always
   * used for humans: requests are immediately answered with an error, and messages are only passed to listeners.
   */
  readonly unhandled?: 'keep' | 'decline'
  /** Time limits after which a connection counts as lost. */
  readonly deadlines?: LineDeadlines
}

export interface TransportEvents {
  message(text: string): unknown
  close(code: number, reason: string): void
}

/** An open socket to a gateway. */
export interface Transport {
  send(text: string): void
  close(code: number, reason: string): void
  /** Ends the connection without a close frame, because the peer may be unreachable; absent = use `close`. */
  terminate?(): void
  /** Number of bytes or frames received so far, including pings; absent = silence is not detected. */
  readonly received?: () => number
  /** `received` counts frames instead of bytes, so it does not change while a large frame arrives. */
  readonly countsFrames?: boolean
}

/**
 * Opens a socket. Rejects with `ProtocolError` if the gateway refuses, with `ConnectionError` if it is unreachable. The signal
 * cancels the attempt.
 */
export type Dial = (request: DialRequest, events: TransportEvents, signal?: AbortSignal) => Promise<Transport>

/** The WebSocket URL of a space. Throws `ConnectionError` for an invalid `url`. `tick`: 1 = the gateway sends ticks [MEUP-5.18]. */
export function socketUrl({ url, space, after, epoch, tail, session }: DialRequest, tick?: 1): string {
  const address = buildGatewayUrl(url, `spaces/${encodeURIComponent(space)}/ws`)
  address.protocol = address.protocol.replace('http', 'ws')
  for (const [name, value] of Object.entries({ after, epoch, tail, session, tick })) {
    if (value !== undefined) address.searchParams.set(name, String(value))
  }
  return address.href
}

/**
 * The HTTP URL of a path below the base address of a gateway. `url` may also be its WebSocket address. Throws `ConnectionError`
 * `not_configured` for an invalid `url`.
 */
export function buildGatewayUrl(url: string, path: string): URL {
  if (!/^(http|ws)s?:\/\//i.test(url) || !URL.canParse(url)) throw notAnAddressError(url)
  const address = new URL(path, url.endsWith('/') ? url : `${url}/`)
  address.protocol = address.protocol.replace('ws', 'http')
  return address
}
