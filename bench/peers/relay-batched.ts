import type { AddressInfo, Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import { frameOf } from './frames.js'

/**
 * A relay that is the upper bound for sockets: frames each message once, and writes all messages of one event loop turn as one
 * buffer to all.
 */
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
const sockets = new Set<Socket>()
let waiting: Uint8Array[] = []

function flush(): void {
  const all = Buffer.concat(waiting)
  waiting = []
  for (const socket of sockets) socket.write(all)
}

server.on('connection', (client, request) => {
  sockets.add(request.socket)
  client.on('close', () => sockets.delete(request.socket))
  client.on('message', (data) => {
    if (waiting.length === 0) setImmediate(flush)
    waiting.push(...frameOf(data as Buffer))
  })
})
server.once('listening', () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }))
})
