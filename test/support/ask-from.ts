import { type IncomingMessage, type OutgoingHttpHeaders, request as requestPlainly } from 'node:http'
import { request } from 'node:https'
import { onTestFinished } from 'vitest'

export interface Asked {
  readonly headers?: OutgoingHttpHeaders
  /** Then it is a POST. */
  readonly body?: string
  /** Certificate of who may answer. */
  readonly ca?: string
}

/** Asks from an address of this machine; what is opened is open until the test is over. */
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

/** Headers of a request for a socket. */
export const upgrade: OutgoingHttpHeaders = {
  upgrade: 'websocket',
  connection: 'upgrade',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': 'meup.v0.3',
}
