import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server } from 'socket.io'

/** A room to which everybody belongs, and what one says goes to all of it. */
const http = createServer()
const server = new Server(http, { transports: ['websocket'], serveClient: false })
server.on('connection', (socket) => {
  void socket.join('bench')
  socket.on('m', (envelope: unknown) => server.to('bench').emit('m', envelope))
})
http.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ port: (http.address() as AddressInfo).port }))
})
