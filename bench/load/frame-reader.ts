import { MessageReader } from './message-reader.js'

/** First byte of a complete text frame: FIN, and opcode 1. */
const textFrame = 0x81
const longestHeader = 10

/** Counts unmasked WebSocket frames. Passes those of an unexpected length to `onOther`. */
export class FrameReader extends MessageReader {
  /** The beginning of a frame that has not arrived completely. */
  #held = Buffer.alloc(4096)
  #heldLength = 0

  feed(chunk: Buffer, end: number): void {
    let at = this.#heldLength > 0 ? this.#finishHeld(chunk, end) : 0
    while (at < end) {
      const size = frameSize(chunk, at, end)
      if (at + size > end) break
      this.#readFrame(chunk, at, size)
      at += size
    }
    if (at < end) this.#hold(chunk, at, end)
  }

  #readFrame(bytes: Buffer, at: number, size: number): void {
    const payload = size - headerSize(bytes, at)
    const from = at + size - payload
    if (bytes[at] === textFrame && this.isExpected(payload)) this.count(bytes, from, at + size)
    else this.handOn(bytes, from, at + size, (bytes[at] ?? 0) & 15)
  }

  /** Completes the held frame. Returns the offset of the next frame. */
  #finishHeld(chunk: Buffer, end: number): number {
    let at = 0
    while (at < end) {
      const missing = frameSize(this.#held, 0, this.#heldLength) - this.#heldLength
      const step = missing === Number.POSITIVE_INFINITY ? 1 : Math.min(missing, end - at)
      this.#hold(chunk, at, at + step)
      at += step
      if (frameSize(this.#held, 0, this.#heldLength) !== this.#heldLength) continue
      const size = this.#heldLength
      this.#heldLength = 0
      this.#readFrame(this.#held, 0, size)
      return at
    }
    return at
  }

  #hold(chunk: Buffer, from: number, to: number): void {
    const needed = this.#heldLength + to - from
    if (needed > this.#held.length) {
      const larger = Buffer.alloc(needed * 2)
      this.#held.copy(larger, 0, 0, this.#heldLength)
      this.#held = larger
    }
    chunk.copy(this.#held, this.#heldLength, from, to)
    this.#heldLength = needed
  }
}

const headerSize = (bytes: Buffer, at: number): number => {
  const short = bytes[at + 1] ?? 0
  return short < 126 ? 2 : short === 126 ? 4 : longestHeader
}

/** Returns the bytes of the frame at `at`, with its header; infinite if the header is cut off at `end`. */
function frameSize(bytes: Buffer, at: number, end: number): number {
  if (at + 2 > end) return Number.POSITIVE_INFINITY
  const short = bytes[at + 1] ?? 0
  if (short < 126) return 2 + short
  if (short === 126) return at + 4 > end ? Number.POSITIVE_INFINITY : 4 + bytes.readUInt16BE(at + 2)
  return at + longestHeader > end
    ? Number.POSITIVE_INFINITY
    : longestHeader + Number(bytes.readBigUInt64BE(at + 2))
}
