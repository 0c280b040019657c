import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

/** The simplest relay: sends each message to all connections, with one `send` for each. */
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
server.on('connection', (socket) => {
  socket.on('message', (data, isBinary) => {
    for (const client of server.clients) client.send(data, { binary: isBinary })
  })
})
server.once('listening', () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }))
})
