import { type ErrorCode, errors, ProtocolError, SUBPROTOCOL } from '@meup/protocol'
import { WebSocket } from 'ws'
import { ConnectionError } from '../client/errors.js'
import { type Dial, socketUrl } from '../client/transport.js'

/** Dials with the `ws` package; what the gateway answers instead of a 101 comes back as its error. */
export const dialWs: Dial = (request, events) =>
  new Promise((resolve, reject) => {
    const headers = request.token === undefined ? {} : { authorization: `Bearer ${request.token}` }
    const socket = new WebSocket(socketUrl(request), SUBPROTOCOL, { headers, perMessageDeflate: false })
    socket.on('open', () => {
      socket.on('close', (code, reason) => events.close(code, reason.toString()))
      resolve({ send: (text) => socket.send(text), close: (code, reason) => socket.close(code, reason) })
    })
    socket.on('message', (data) => events.message(data.toString()))
    socket.on('error', (cause) => {
      reject(
        new ConnectionError('unreachable', `no gateway answers at ${request.url}: ${cause.message}`, {
          cause,
        }),
      )
    })
    socket.on('unexpected-response', (_, response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => reject(refusal(response.statusCode ?? 0, Buffer.concat(chunks).toString())))
      response.on('error', reject)
    })
  })

function refusal(status: number, body: string): Error {
  try {
    const { code, detail } = JSON.parse(body) as { code: ErrorCode; detail: string }
    if (Object.hasOwn(errors, code)) return new ProtocolError(code, detail)
  } catch {
    // Not a problem document: whatever answered is no gateway.
  }
  return new ConnectionError('unreachable', `HTTP ${status} instead of a socket; is this a gateway?`)
}
