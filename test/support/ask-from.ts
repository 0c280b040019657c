import { type IncomingMessage, type OutgoingHttpHeaders, request as requestPlainly } from 'node:http'
import { request } from 'node:https'
import { onTestFinished } from 'vitest'

export interface Asked {
  readonly headers?: OutgoingHttpHeaders
  /** Body of the request; a request with a body is a POST. */
  readonly body?: string
  /** Certificate of the authority that the server's certificate must be from. */
  readonly ca?: string
}

/** Sends a request from a local address. The connection stays open until the test is over. */
export function askFrom(
  localAddress: string,
  url: string,
  { headers = {}, body, ca }: Asked = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const ask = url.startsWith('https:') ? request : requestPlainly
    const method = body === undefined ? 'GET' : 'POST'
    const asked = ask(url, { headers, localAddress, method, agent: false, ...(ca && { ca }) })
    asked.on('error', reject).on('response', resolve).on('upgrade', resolve)
    asked.end(body)
    onTestFinished(() => void asked.destroy())
  })
}

/** Headers of a request for a WebSocket. */
export const upgrade: OutgoingHttpHeaders = {
  upgrade: 'websocket',
  connection: 'upgrade',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': 'meup.v0.3',
}
