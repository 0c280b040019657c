import { SUBPROTOCOL } from '@meup/protocol'
import { WebSocket } from 'ws'
import { ConnectionError, readRefusal } from '../client/errors.js'
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
      response.on('end', () => {
        const message = `HTTP ${response.statusCode} instead of a socket; is this a gateway?`
        const refusal = readRefusal(Buffer.concat(chunks).toString())
        reject(refusal ?? new ConnectionError('unreachable', message))
      })
      response.on('error', reject)
    })
  })
