import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

/** The least that a server can do: what comes from one goes to all, by a `send` for each. */
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
server.on('connection', (socket) => {
  socket.on('message', (data, isBinary) => {
    for (const client of server.clients) client.send(data, { binary: isBinary })
  })
})
server.once('listening', () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }))
})
