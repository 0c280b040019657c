import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import {
  type Connection,
  type Message,
  measureMessage,
  type OutboundBatch,
  putText,
} from '../ports/connection.js'

/** Less than this may wait when a replay reads its next page. */
const lowWater = 64 * 1024

/**
 * A WebSocket as the gateway sees it. A batch is framed by the first connection it goes to and written to every
 * socket as one buffer; ws itself sends only pings and the close frame.
 */
export class WsConnection implements Connection {
  readonly remote: string
  readonly #ws: WebSocket
  readonly #socket: Socket

  constructor(ws: WebSocket, socket: Socket, remote: string) {
    this.#ws = ws
    this.#socket = socket
    this.remote = remote
  }

  get pending(): number {
    return this.#socket.writableLength
  }

  get isGone(): boolean {
    return this.#ws.readyState !== this.#ws.OPEN
  }

  send(outboundBatch: OutboundBatch): void {
    if (this.#ws.readyState !== this.#ws.OPEN) return
    outboundBatch.wire ??= encodeFrames(outboundBatch.messages)
    this.#socket.write(outboundBatch.wire)
  }

  async drained(): Promise<void> {
    while (this.#socket.writableLength > lowWater && !this.#socket.destroyed) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          this.#socket.off('drain', done).off('close', done)
          resolve()
        }
        this.#socket.on('drain', done).on('close', done)
      })
    }
  }

  close(code: number, reason: string): void {
    this.#ws.close(code, reason)
  }
}

/** The bytes of a message, whichever way ws hands them over. */
export function toBytes(data: RawData): Uint8Array {
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  return Array.isArray(data) ? Buffer.concat(data) : data
}

/** FIN and the opcode of text (RFC 6455, section 5.2); the gateway masks nothing. */
const wholeText = 0x81
const [twoBytes, eightBytes] = [126, 127]
const [maxShortLength, maxMediumLength] = [125, 0xffff]

/** Text frames one after another, as one buffer: written once, however many sockets it goes to [MEUP-8.4]. */
function encodeFrames(messages: readonly Message[]): Uint8Array {
  let size = 0
  for (const message of messages) size += framed(measureMessage(message))
  const wire = Buffer.allocUnsafe(size)
  let at = 0
  for (const message of messages) at = put(message, wire, at)
  return wire
}

const framed = (length: number): number =>
  length + (length <= maxShortLength ? 2 : length <= maxMediumLength ? 4 : 10)

function put(message: Message, wire: Buffer, start: number): number {
  const length = measureMessage(message)
  let at = start
  wire[at++] = wholeText
  if (length <= maxShortLength) {
    wire[at++] = length
  } else if (length <= maxMediumLength) {
    wire[at++] = twoBytes
    at = wire.writeUInt16BE(length, at)
  } else {
    wire[at++] = eightBytes
    at = wire.writeBigUInt64BE(BigInt(length), at)
  }
  putText(message, wire, at)
  return at + length
}

/** What one connection may bring before the event loop goes on to the others, to timers and to requests. */
const [maxFrames, maxBytes] = [256, 64 * 1024]
/** Read at once, at first and at most. All frames in it are taken: at six bytes each, no more than 1,365 over the portion. */
const [firstBytes, mostBytes] = [2048, 8192]

/**
 * Reads a socket in portions. `ws` takes all frames of a chunk in one go, and a chunk of 64 KiB may hold ten thousand, so
 * the chunk is handed to it in slices: each `read` emits `data`, and `ws` listens to that.
 */
export class PortionReader {
  /** It is not read for the time being. */
  isHeld = true
  readonly #socket: Socket
  /** Asked after each slice, as one frame may use up what its sender has: read no more until this resolves. */
  readonly #whenWritable: () => Promise<void> | undefined
  #frames = 0
  #isDue = false

  /** Reads nothing before `resume`. */
  constructor(socket: Socket, whenWritable: () => Promise<void> | undefined) {
    this.#socket = socket
    this.#whenWritable = whenWritable
    socket.on('readable', () => {
      if (!this.isHeld && !this.#isDue) this.#read()
    })
  }

  /** Tells it that a slice had one more frame. */
  countFrame(): void {
    this.#frames++
  }

  resume(): void {
    this.isHeld = false
    this.#read()
  }

  readonly #read = (): void => {
    const socket = this.#socket
    this.#isDue = false
    this.#frames = 0
    let [bytes, wanted] = [0, firstBytes]
    let whenWritable: Promise<void> | undefined
    while (
      whenWritable === undefined &&
      this.#frames < maxFrames &&
      bytes < maxBytes &&
      socket.readableLength > 0
    ) {
      const slice: Buffer | null = socket.read(Math.min(wanted, socket.readableLength))
      if (slice === null) return
      bytes += slice.length
      // As much as the frames that are left would take, were they like those before.
      const each = bytes / Math.max(1, this.#frames)
      wanted = Math.min(mostBytes, Math.max(firstBytes, Math.floor(each * (maxFrames - this.#frames))))
      whenWritable = this.#whenWritable()
    }
    if (whenWritable !== undefined) {
      this.isHeld = true
      void whenWritable.then(() => this.resume())
    } else if (socket.readableLength > 0) {
      this.#isDue = true
      setImmediate(this.#read)
    } else socket.read(0) // So that its end is noticed.
  }
}
