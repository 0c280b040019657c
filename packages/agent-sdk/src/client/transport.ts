import type { SafetySettings } from '@meup/safety'
import { ConnectionError } from './errors.js'
import type { OpenProposal } from './proposal.js'
import type { LineDeadlines, ReconnectOptions } from './reconnect.js'

/** The HTTP address of a gateway, and the identity. */
export interface HttpTarget {
  /** Base address of the gateway, such as `http://127.0.0.1:8080`. */
  readonly url: string
  readonly space: string
  /** Absent = a guest, if the space admits guests. */
  readonly token?: string
  /** Makes the HTTP requests; default: the global `fetch`. */
  readonly fetch?: Fetch
}

export type Fetch = (url: URL, init: RequestInit) => Promise<Response>

/** The address and identity of a connection. `after` resumes within `epoch`; `tail` requests the latest envelopes [MEUP-5.2]. */
export interface DialRequest extends HttpTarget {
  readonly after?: number
  readonly epoch?: string
  readonly tail?: number
  /**
   * The session of the connecting program [MEUP-2.14]: 1 to 64 of A-Z a-z 0-9 _ -. The gateway ends what it leaves open when it
   * ends; for a participant with a single program, it replaces the previous one. Absent = unnamed.
   */
  readonly session?: string
  /** Masking of thoughts and rationales in this process, in addition to the default rules; `false` = only by the gateway. */
  readonly safety?: false | Partial<SafetySettings>
  /** Whether requests carry a `traceparent`, so that their spans join the caller's trace. */
  readonly tracing?: boolean
  /** Folder for transcripts of this participant's models; absent = not stored. */
  readonly transcripts?: string
  /** Open proposals at the time of connecting, from `HttpClient.readProposals`; initial content of `SpaceClient.proposals`. */
  readonly proposals?: readonly OpenProposal[]
  /** How a lost connection is restored. The first attempt is not repeated: `connect` rejects if it fails. */
  readonly reconnect?: ReconnectOptions
  /** Like the event `reconnecting`: the connection was lost, and the next attempt starts after `inMs`. */
  readonly onReconnecting?: (inMs: number, reason: string) => void
  /**
   * Handling of messages and MCP requests without a handler. `keep`, the default: they wait for the first of `answer()`,
   * `turns()`, `agent()`, `tool()` and `serve()`; requests for ten seconds at most. `decline`, also for humans: requests are
   * answered at once that nothing is offered, and messages are left to listeners.
   */
  readonly unhandled?: 'keep' | 'decline'
  /** How long a gateway may be silent. */
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
  /** Ends it without a close frame, because the peer may be gone; absent = use `close`. */
  terminate?(): void
  /** Amount received so far, including pings; absent = not watched for silence. */
  readonly received?: () => number
  /** `received` counts frames instead of bytes; a single frame may take long. */
  readonly countsFrames?: boolean
}

/**
 * Opens a socket. Rejects with `ProtocolError` if the gateway refuses, `ConnectionError` if it is unreachable. An abort of the
 * signal cancels it.
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
 * The HTTP URL of a path below the base address of a gateway; accepts its WebSocket address. Throws `ConnectionError`
 * `not_configured` for an invalid `url`.
 */
export function buildGatewayUrl(url: string, path: string): URL {
  if (!/^(http|ws)s?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new ConnectionError('not_configured', `${url} is not an address like http://127.0.0.1:8080`, {
      details: { option: 'url', url },
    })
  }
  const address = new URL(path, url.endsWith('/') ? url : `${url}/`)
  address.protocol = address.protocol.replace('ws', 'http')
  return address
}
