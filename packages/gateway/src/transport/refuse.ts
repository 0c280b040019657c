import type { Socket } from 'node:net'
import type { Denial } from '../host/connection-gate.js'
import { problemOf, retryAfter } from '../http/problem.js'

/** Answers a connection that no HTTP server answers, and ends it: also where its peer keeps its own side open. */
export function refuse(socket: Socket, denial: Denial): void {
  const body = JSON.stringify(problemOf(denial))
  const headers = {
    connection: 'close',
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    ...retryAfter(denial),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${denial.status} ${denial.code}\r\n${lines.join('')}\r\n${body}`)
  socket.destroySoon()
}
