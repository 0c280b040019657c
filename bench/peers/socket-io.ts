import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server } from 'socket.io'

/** A Socket.IO server with one room of all connections, to which it sends every message. */
const http = createServer()
const server = new Server(http, { transports: ['websocket'], serveClient: false })
server.on('connection', (socket) => {
  void socket.join('bench')
  socket.on('m', (envelope: unknown) => server.to('bench').emit('m', envelope))
})
http.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ port: (http.address() as AddressInfo).port }))
})
