import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { SUBPROTOCOL } from '@meup/protocol'
import { WebSocket } from 'ws'
import { createHandshakeError, unreachableError } from '../client/errors.js'
import { type Dial, socketUrl } from '../client/transport.js'

/** Maximum bytes read of a refusal's body. */
const maxRefusalBytes = 64 * 1024

/** Connects with the `ws` package; a response other than 101 becomes an error. */
export const dialWs: Dial = (request, events, signal) =>
  new Promise((resolve, reject) => {
    const headers = request.token === undefined ? {} : { authorization: `Bearer ${request.token}` }
    const socket = new WebSocket(socketUrl(request), SUBPROTOCOL, { headers, perMessageDeflate: false })
    const abort = (): void => socket.terminate()
    const fail = (cause: Error): void => reject(unreachableError(request.url, cause.message, { cause }))
    signal?.addEventListener('abort', abort)
    let wire: Pick<Socket, 'bytesRead'> = { bytesRead: 0 }
    socket.on('upgrade', (response) => {
      wire = response.socket
    })
    socket.on('open', () => {
      signal?.removeEventListener('abort', abort)
      socket.on('close', (code, reason) => events.close(code, reason.toString()))
      resolve({
        send: (text) => socket.send(text),
        close: (code, reason) => socket.close(code, reason),
        terminate: () => socket.terminate(),
        received: () => wire.bytesRead,
      })
    })
    socket.on('message', (data) => events.message(data.toString()))
    socket.on('error', fail)
    socket.on('unexpected-response', (_, response) => {
      const { statusCode: status = 0, headers } = response
      readBody(response).then(
        (body) =>
          reject(
            createHandshakeError({ url: request.url, status, body, retryAfter: headers['retry-after'] }),
          ),
        fail,
      )
    })
  })

/** Reads the body of a refusal, only the beginning if it is longer than `maxRefusalBytes`. */
async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response) {
    chunks.push(chunk as Buffer)
    bytes += (chunk as Buffer).length
    if (bytes > maxRefusalBytes) break
  }
  return Buffer.concat(chunks).toString()
}
