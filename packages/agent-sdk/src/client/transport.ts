import type { SafetySettings } from '@meup/safety'
import { ConnectionError } from './errors.js'
import type { OpenProposal } from './proposal.js'
import type { LineDeadlines, ReconnectOptions } from './reconnect.js'

/** Where a space is read over HTTP, and as whom. */
export interface HttpTarget {
  /** Base address of the gateway, such as `http://127.0.0.1:8080`. */
  readonly url: string
  readonly space: string
  /** Absent = a guest, where the space lets guests in. */
  readonly token?: string
  /** Makes the HTTP requests; default: the global `fetch`. */
  readonly fetch?: Fetch
}

export type Fetch = (url: URL, init: RequestInit) => Promise<Response>

/** Where to connect, and as whom. `after` resumes within `epoch`; `tail` requests the latest envelopes [MEUP-5.2]. */
export interface DialRequest extends HttpTarget {
  readonly after?: number
  readonly epoch?: string
  readonly tail?: number
  /**
   * Names the program that connects [MEUP-2.14]: 1 to 64 of A-Z a-z 0-9 _ -. What it leaves open when it ends is ended by the gateway, and where
   * one program runs for a participant, it takes over. Absent = none.
   */
  readonly session?: string
  /**
   * What is kept from leaving this process in what is thought aloud, beside the usual secrets; `false` = leave that to
   * the gateway.
   */
  readonly safety?: false | Partial<SafetySettings>
  /** Whether requests carry a `traceparent`, which links their spans to the trace of the caller. */
  readonly tracing?: boolean
  /** Folder for the transcripts of this participant's models; absent: none are kept. */
  readonly transcripts?: string
  /** Proposals that are open when it connects, as `HttpClient.readProposals` lists them: `SpaceClient.proposals` begins with them. */
  readonly proposals?: readonly OpenProposal[]
  /** How a lost connection is restored. The first one is not: `connect` rejects where it cannot be opened. */
  readonly reconnect?: ReconnectOptions
  /** As the event `reconnecting`: the connection was lost, and the next attempt starts after `inMs`. */
  readonly onReconnecting?: (inMs: number, reason: string) => void
  /**
   * What becomes of messages and MCP requests that come before anything answers them. `keep`, the default: they wait for the first of
   * `answer()`, `turns()`, `agent()`, `tool()` and `serve()`; requests for ten seconds at most. `decline`, and for humans: requests are
   * answered that nothing is offered, at once, and messages are left to listeners.
   */
  readonly unhandled?: 'keep' | 'decline'
  /** How long a gateway may keep silent. */
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
  /** Ends it without a word to the far end, which may be gone; absent: `close` has to do. */
  terminate?(): void
  /** How much has come so far, pings included; absent = it cannot fall silent unnoticed, and is not watched. */
  readonly received?: () => number
  /** `received` counts frames, of which one may take long, and not bytes. */
  readonly countsFrames?: boolean
}

/**
 * Opens a socket. Rejects with `ProtocolError` when the gateway refuses, `ConnectionError` when it is unreachable. Once the signal is
 * aborted nobody wants the socket any more.
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
 * The HTTP URL of a path below the base address of a gateway, whose WebSocket address means the same gateway. Throws
 * `ConnectionError` `not_configured` for an invalid `url`.
 */
export function buildGatewayUrl(url: string, path: string): URL {
  if (!/^(http|ws)s?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new ConnectionError('not_configured', `${url} is no address like http://127.0.0.1:8080`)
  }
  const address = new URL(path, url.endsWith('/') ? url : `${url}/`)
  address.protocol = address.protocol.replace('ws', 'http')
  return address
}
