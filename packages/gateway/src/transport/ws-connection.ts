import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import {
  type Connection,
  type Message,
  measureMessage,
  type OutboundBatch,
  putText,
} from '../ports/connection.js'

/** A replay reads its next page once fewer bytes than this are unsent. */
const lowWater = 64 * 1024

/**
 * The connection of the gateway to a WebSocket client. A batch is framed once and the same buffer is written to every socket;
 * ws itself sends only pings and the close frame.
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

/** The bytes of a message, in whichever form `ws` delivers it. */
export function toBytes(data: RawData): Uint8Array {
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  return Array.isArray(data) ? Buffer.concat(data) : data
}

/** FIN and the opcode of text (RFC 6455, section 5.2); a server does not mask. */
const wholeText = 0x81
const [twoBytes, eightBytes] = [126, 127]
const [maxShortLength, maxMediumLength] = [125, 0xffff]

/** Encodes text frames into one buffer, which is written to every socket [MEUP-8.4]. */
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

/**
 * Bytes of the first slice, and maximum bytes of any. All frames of a slice are read, so a turn may exceed its share: by at
 * most 1,365 frames of six bytes.
 */
const [firstBytes, maxBytes] = [2048, 8192]

/**
 * Reads a socket in portions: per turn of the event loop as much as the share of its rateLimitKey permits. `ws` parses all
 * frames of a chunk at once, and 64 KiB may contain ten thousand, so it gets chunks in slices: each `read` emits `data`, to
 * which `ws` listens.
 */
export class PortionReader {
  /** Whether reading is paused. */
  isHeld = true
  readonly #socket: Socket
  readonly #share: TurnShare
  /**
   * Called after each slice, since one frame may use up the rate of its sender; reading continues once the promise resolves.
   */
  readonly #whenWritable: () => Promise<void> | undefined
  #frames = 0
  #isDue = false

  /** Reads nothing before `resume`. */
  constructor(socket: Socket, share: TurnShare, whenWritable: () => Promise<void> | undefined) {
    this.#socket = socket
    this.#share = share
    this.#whenWritable = whenWritable
    socket.on('readable', () => {
      if (!this.isHeld && !this.#isDue) this.#readInTurn()
    })
    socket.on('close', () => share.cancel(this.#read))
  }

  /** Counts a frame of the present slice. */
  countFrame(): void {
    this.#frames++
    this.#share.countFrame()
  }

  resume(): void {
    this.isHeld = false
    this.#readInTurn()
  }

  #readInTurn(): void {
    if (this.#share.isTaken || this.#share.frames === 0) this.#wait()
    else this.#read()
  }

  #wait(): void {
    this.#isDue = true
    this.#share.wait(this.#read)
  }

  readonly #read = (): void => {
    const [socket, share] = [this.#socket, this.#share]
    this.#isDue = false
    this.#frames = 0
    let [bytes, wanted] = [0, firstBytes]
    let whenWritable: Promise<void> | undefined
    while (whenWritable === undefined && share.frames > 0 && socket.readableLength > 0) {
      const slice: Buffer | null = socket.read(Math.min(wanted, socket.readableLength))
      if (slice === null) return
      bytes += slice.length
      share.countBytes(slice.length)
      // Estimates the bytes of the remaining frames by those of the previous ones.
      const each = bytes / Math.max(1, this.#frames)
      wanted = Math.min(maxBytes, Math.max(firstBytes, Math.floor(each * share.frames)))
      whenWritable = this.#whenWritable()
    }
    if (whenWritable !== undefined) {
      this.isHeld = true
      const resume = (): void => this.resume()
      whenWritable.then(resume, resume)
    } else if (socket.readableLength > 0) {
      this.#wait()
    } else socket.read(0) // Lets Node notice the end of the socket.
  }
}

/** Limits of the connections of one rateLimitKey per turn of the event loop, which then serves others, timers and requests. */
const maxInTurn = { frames: 256, bytes: 64 * 1024 }

/** Counts turns of the event loop, but only while shares ask for the number. */
const loop = { turn: 0, isCounted: false }

function currentTurn(): number {
  if (!loop.isCounted) {
    loop.isCounted = true
    setImmediate(() => {
      loop.turn++
      loop.isCounted = false
    })
  }
  return loop.turn
}

/** The share of one rateLimitKey in a turn of the event loop, divided among all its connections. */
export class TurnShare {
  #turn = -1
  #frames = 0
  #bytes = 0
  /** Readers that continue in a later turn, the longest waiting first. */
  readonly #waiting = new Set<() => void>()
  #isDue = false

  /** Frames that may still be read in this turn; 0 = the frames or the bytes of the turn are used up. */
  get frames(): number {
    this.#begin()
    return this.#bytes < maxInTurn.bytes ? Math.max(0, maxInTurn.frames - this.#frames) : 0
  }

  countFrame(): void {
    this.#begin()
    this.#frames++
  }

  countBytes(bytes: number): void {
    this.#begin()
    this.#bytes += bytes
  }

  /** Whether other readers already wait. */
  get isTaken(): boolean {
    return this.#waiting.size > 0
  }

  /** Calls `read` in a later turn, after the readers that already wait. */
  wait(read: () => void): void {
    this.#waiting.add(read)
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(this.#goOn)
  }

  cancel(read: () => void): void {
    this.#waiting.delete(read)
  }

  readonly #goOn = (): void => {
    this.#isDue = false
    // The copy excludes readers that start waiting during the loop; they continue in a later turn.
    for (const read of [...this.#waiting]) {
      if (this.frames === 0) break
      this.#waiting.delete(read)
      read()
    }
    if (this.#waiting.size > 0 && !this.#isDue) {
      this.#isDue = true
      setImmediate(this.#goOn)
    }
  }

  #begin(): void {
    const turn = currentTurn()
    if (this.#turn === turn) return
    this.#turn = turn
    this.#frames = 0
    this.#bytes = 0
  }
}

/** The shares of all rateLimitKeys with connections. */
export class TurnShares {
  readonly #byKey = new Map<string, { readonly share: TurnShare; connections: number }>()

  /** Adds a connection of this rateLimitKey, until `leave`. */
  enter(key: string): TurnShare {
    const known = this.#byKey.get(key) ?? { share: new TurnShare(), connections: 0 }
    this.#byKey.set(key, known)
    known.connections++
    return known.share
  }

  leave(key: string): void {
    const known = this.#byKey.get(key)
    if (known !== undefined && --known.connections === 0) this.#byKey.delete(key)
  }
}
