import type { Wrapping } from './template.js'

/** The account with which a connection is opened. */
export interface Account {
  readonly participant: string
  readonly token?: string
  /** Query string of the address, such as `?after=0&epoch=…`. */
  readonly query?: string
}

/** How to react to a frame that is not a message of the load. */
interface Reply {
  readonly ready?: boolean
  readonly send?: string
}

/** The protocol of one kind of server over WebSocket. */
export interface Dialect {
  path(seat: Account): string
  headers(seat: Account): Readonly<Record<string, string>>
  /** Whether the server sends nothing that a client has to wait for after the upgrade. */
  readonly readyAtOnce: boolean
  /** Handles a frame that is not a message of the load. Throws if it reports an error. */
  other(text: string): Reply
  /** Text before and after the envelope in a frame. */
  readonly around: readonly [string, string]
}

export const relay: Dialect = {
  path: () => '/',
  headers: () => ({}),
  readyAtOnce: true,
  other: (text) => {
    throw new Error(`a relay sent ${text.slice(0, 200)}`)
  },
  around: ['', ''],
}

/** The protocol of `ws-full.ts`, which authenticates connections. */
export const fullPipeline: Dialect = {
  ...relay,
  headers: ({ token = '' }) => ({ authorization: `Bearer ${token}` }),
}

/** The space of every gateway that is measured. */
export const spaceName = 'bench'

export const meup: Dialect = {
  path: ({ query = '' }) => `/spaces/${spaceName}/ws${query}`,
  headers: ({ token = '' }) => ({
    authorization: `Bearer ${token}`,
    'sec-websocket-protocol': 'meup.v0.3',
  }),
  readyAtOnce: false,
  other: (text) => {
    if (text.includes('"kind":"system.error"')) throw new Error(`the gateway refused: ${text}`)
    return { ready: text.includes('"kind":"system.welcome"') }
  },
  around: ['', ''],
}

/** Engine.IO 4 under Socket.IO 5: `0` opens, `2` is a ping, `40` connects, `42` is an event. */
export const socketIo: Dialect = {
  path: () => '/socket.io/?EIO=4&transport=websocket',
  headers: () => ({}),
  readyAtOnce: false,
  other: (text) => {
    if (text.startsWith('0')) return { send: '40' }
    if (text.startsWith('40')) return { ready: true }
    if (text === '2') return { send: '3' }
    throw new Error(`Socket.IO sent ${text.slice(0, 200)}`)
  },
  around: ['42["m",', ']'],
}

/**
 * Clients must mask their frames. A mask of zeros leaves the bytes unchanged, and the server has the same work to unmask them.
 */
export function wrappingOf({ around: [before, after] }: Dialect): Wrapping {
  const extra = before.length + after.length
  return {
    before: (length) => Buffer.concat([maskedHeader(length + extra, 1), Buffer.from(before)]),
    after: Buffer.from(after),
  }
}

export function maskedHeader(length: number, opcode: number): Buffer {
  const first = 0x80 | opcode
  const mask = [0, 0, 0, 0]
  if (length < 126) return Buffer.from([first, 0x80 | length, ...mask])
  if (length <= 0xffff) return Buffer.from([first, 0x80 | 126, length >> 8, length & 255, ...mask])
  const large = Buffer.alloc(14)
  large[0] = first
  large[1] = 0x80 | 127
  large.writeBigUInt64BE(BigInt(length), 2)
  return large
}
