import type { SafetySettings } from '@meup/safety'
import { ConnectionError } from './errors.js'

/** Where to connect, and as whom. `after` resumes within `epoch`; `tail` requests the latest envelopes [MEUP-5.2]. */
export interface DialRequest {
  /** Base address of the gateway, such as `http://127.0.0.1:8080`. */
  readonly url: string
  readonly space: string
  readonly token?: string
  readonly after?: number
  readonly epoch?: string
  readonly tail?: number
  /**
   * What is kept from leaving this process in what is thought aloud, beside the usual secrets; `false` = leave that to
   * the gateway.
   */
  readonly safety?: false | Partial<SafetySettings>
  /** Whether requests carry a `traceparent`, which links their spans to the trace of the caller. */
  readonly tracing?: boolean
  /** Folder for the transcripts of this participant's models; absent: none are kept. */
  readonly transcripts?: string
}

export interface TransportEvents {
  message(text: string): unknown
  close(code: number, reason: string): void
}

/** An open socket to a gateway. */
export interface Transport {
  send(text: string): void
  close(code: number, reason: string): void
}

/** Opens a socket. Rejects with `ProtocolError` when the gateway refuses, `ConnectionError` when it is unreachable. */
export type Dial = (request: DialRequest, events: TransportEvents) => Promise<Transport>

/** The WebSocket URL of a space. Throws `ConnectionError` for an invalid `url`. */
export function socketUrl({ url, space, after, epoch, tail }: DialRequest): string {
  const address = buildGatewayUrl(url, `spaces/${encodeURIComponent(space)}/ws`)
  address.protocol = address.protocol.replace('http', 'ws')
  for (const [name, value] of Object.entries({ after, epoch, tail })) {
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
