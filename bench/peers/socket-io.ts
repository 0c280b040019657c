import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server } from 'socket.io'

/** One room with all connections, to which every message is sent. */
const http = createServer()
const server = new Server(http, { transports: ['websocket'], serveClient: false })
server.on('connection', (socket) => {
  void socket.join('bench')
  socket.on('m', (envelope: unknown) => server.to('bench').emit('m', envelope))
})
http.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ port: (http.address() as AddressInfo).port }))
})
