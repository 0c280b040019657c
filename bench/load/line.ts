import { connect, type Socket } from 'node:net'
import { type Account, type Dialect, maskedHeader, wrappingOf } from './dialects.js'
import { FrameReader } from './frame-reader.js'
import type { Expected } from './message-reader.js'
import { NatsReader } from './nats-reader.js'
import type { Wrapping } from './template.js'

/** One connection of the load. */
export interface Connection {
  readonly seat: Account
  readonly socket: Socket
  readonly reader: FrameReader | NatsReader
  readonly wrapping: Wrapping
  /** The server's first message on the connection; empty = none. */
  readonly greeting: string
  /** Called after each piece of data that was read. */
  onRead: (() => void) | undefined
  /** Called with each message that is not counted, because of its length. */
  onText: ((text: string) => void) | undefined
  /** Rejects when the connection fails, or the server reports an error. */
  readonly failed: Promise<never>
  close(): Promise<void>
}

export interface Target {
  readonly port: number
  readonly dialect: Dialect | 'nats'
}

interface Talk {
  readonly hello: Buffer
  readonly reader: FrameReader | NatsReader
  readonly wrapping: Wrapping
  /** Handles data until the server is ready. Returns the rest, which is for the reader. */
  readonly greet: (chunk: Buffer) => Buffer | undefined
}

/** A buffer for reading that all connections share: each one finishes with it before the next one reads. */
const shared = Buffer.alloc(256 * 1024)
const opcodes = { text: 1, close: 8, ping: 9, pong: 10 }

/** Opens a connection; resolves once the server is ready. `prepare` is called with the reader before it reads. */
export function openLine(
  target: Target,
  seat: Account,
  expected: Expected,
  prepare: (reader: Connection['reader']) => void = () => {},
): Promise<Connection> {
  return new Promise((resolve, reject) => {
    let fail: (error: unknown) => void = reject
    const failed = new Promise<never>((_, refuse) => {
      fail = (error) => {
        refuse(error)
        reject(error)
        socket.destroy()
      }
    })
    failed.catch(() => {})
    const ready = (greeting = ''): void => resolve(Object.assign(line, { greeting }))
    const heard = (text: string): unknown => line.onText?.(text)
    const send = (bytes: Buffer): unknown => socket.write(bytes)
    const talk = target.dialect === 'nats' ? nats : webSocket
    const { hello, reader, wrapping, greet } = talk({ ...target, seat, expected, ready, send, heard })
    prepare(reader)
    let isGreeted = false
    let isClosing = false
    const read = (size: number, bytes: Buffer): boolean => {
      try {
        const rest = isGreeted ? bytes : greet(bytes.subarray(0, size))
        if (rest === undefined) return true
        reader.feed(rest, isGreeted ? size : rest.length)
        isGreeted = true
        line.onRead?.()
      } catch (error) {
        fail(error)
      }
      return true
    }
    const socket = connect({
      host: '127.0.0.1',
      port: target.port,
      noDelay: true,
      onread: { buffer: shared, callback: (size, bytes) => read(size, bytes as Buffer) },
    })
    const line: Connection = {
      ...{ seat, socket, reader, wrapping, failed, greeting: '', onRead: undefined, onText: undefined },
      close: () => {
        isClosing = true
        // A connection that has failed is already closed, so there is nothing to wait for.
        if (socket.closed) return Promise.resolve()
        return new Promise((closed) => {
          socket.once('close', () => closed())
          socket.destroy()
        })
      },
    }
    socket.on('error', (error) => fail(new Error(`${seat.participant}: ${error.message}`, { cause: error })))
    socket.on('close', () => {
      if (!isClosing) fail(new Error(`${seat.participant} was disconnected`))
    })
    socket.once('connect', () => socket.write(hello))
  })
}

interface Opening {
  readonly dialect: Dialect | 'nats'
  readonly seat: Account
  readonly expected: Expected
  ready(greeting?: string): void
  send(bytes: Buffer): unknown
  heard(text: string): unknown
}

function webSocket({ dialect, seat, expected, ready, send, heard }: Opening): Talk {
  if (dialect === 'nats') throw new Error('NATS is no dialect of WebSocket')
  const frame = (data: Buffer, opcode: number): Buffer =>
    Buffer.concat([maskedHeader(data.length, opcode), data])
  const reader = new FrameReader(expected, (bytes, from, to, opcode) => {
    const data = bytes.subarray(from, to)
    if (opcode === opcodes.ping) send(frame(Buffer.from(data), opcodes.pong))
    else if (opcode === opcodes.close) throw new Error(`closed: ${data.readUInt16BE(0)} ${data.subarray(2)}`)
    else if (opcode === opcodes.text) {
      const text = data.toString()
      const reply = dialect.other(text)
      heard(text)
      if (reply.send !== undefined) send(frame(Buffer.from(reply.send), opcodes.text))
      if (reply.ready) ready(text)
    }
  })
  const headers = {
    host: '127.0.0.1',
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
    ...dialect.headers(seat),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  let head = Buffer.alloc(0)
  return {
    hello: Buffer.from(`GET ${dialect.path(seat)} HTTP/1.1\r\n${lines.join('')}\r\n`),
    reader,
    wrapping: wrappingOf(dialect),
    greet(chunk) {
      head = Buffer.concat([head, chunk])
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return undefined
      if (!head.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(`refused: ${head}`)
      if (dialect.readyAtOnce) ready()
      return head.subarray(end + 4)
    },
  }
}

function nats({ expected, ready, send }: Opening): Talk {
  const reader = new NatsReader(expected, (bytes, from, to) => {
    const line = bytes.toString('latin1', from, to)
    if (line.startsWith('PING')) send(Buffer.from('PONG\r\n'))
    else if (line.startsWith('PONG')) ready()
    else if (!line.startsWith('INFO')) throw new Error(`NATS sent ${line}`)
  })
  return {
    hello: Buffer.from('CONNECT {"verbose":false,"pedantic":false}\r\nSUB bench 1\r\nPING\r\n'),
    reader,
    wrapping: {
      before: (length) => Buffer.from(`PUB bench ${length}\r\n`),
      after: Buffer.from('\r\n'),
    },
    greet: (chunk) => chunk,
  }
}
