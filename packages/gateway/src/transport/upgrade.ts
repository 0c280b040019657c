import type { IncomingMessage } from 'node:http'
import { SUBPROTOCOL } from '@meup/protocol'
import {
  bearerOf,
  type Denial,
  deny,
  inspect,
  isDenial,
  placeless,
  type Resume,
} from '../host/connection-gate.js'
import type { ConnectRequest } from '../host/gateway.js'
import { remoteOf } from './address.js'

export interface Upgrade extends ConnectRequest {
  readonly resume: Resume
}

/** Reads a request for a socket: path, token, origin, where to resume [MEUP-5.1, MEUP-5.2]. */
export function readUpgrade(
  request: IncomingMessage,
  options: { readonly origins: readonly string[]; readonly trustProxy: boolean },
): Upgrade | Denial {
  const target = request.url ?? '/'
  if (!URL.canParse(target, 'http://gateway')) return deny('invalid_request', 400, 'the URL cannot be read')
  const url = new URL(target, 'http://gateway')
  const space = /^\/spaces\/([^/]+)\/ws$/.exec(url.pathname)?.[1]
  if (space === undefined) return deny('not_found', 404, 'sockets are opened at /spaces/{space}/ws')
  const { origin, host } = request.headers
  const refusal = inspect({ query: url.searchParams, origin, host }, options.origins)
  if (refusal !== undefined) return refusal
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
  if (!offered.includes(SUBPROTOCOL)) {
    return deny('unsupported_protocol', 400, `offer the subprotocol ${SUBPROTOCOL}`)
  }
  const token =
    bearerOf(request.headers.authorization) ?? offered.find((name) => name.startsWith('bearer.'))?.slice(7)
  const resume = readResume(url.searchParams)
  if (isDenial(resume)) return resume
  return { space, remote: remoteOf(request, options.trustProxy), resume, ...(token && { token }) }
}

function readResume(query: URLSearchParams): Resume | Denial {
  const numbers: { after?: number; tail?: number } = {}
  for (const name of ['after', 'tail'] as const) {
    const text = query.get(name)
    if (text === null) continue
    const value = Number(text)
    if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(value)) {
      return deny('invalid_request', 400, `${name} must be a whole number from 0, not ${text}`)
    }
    numbers[name] = value
  }
  const epoch = query.get('epoch')
  const resume = { ...numbers, ...(epoch !== null && { epoch }) }
  return placeless(resume) ?? resume
}
