import { MessageReader } from './message-reader.js'

const lineEnd = 0x0a
/** The character `M`, with which `MSG` begins. */
const message = 0x4d

/** Counts messages of the NATS protocol. Passes every other line to `onOther`. */
export class NatsReader extends MessageReader {
  #held: Buffer = Buffer.alloc(0)

  feed(chunk: Buffer, end: number): void {
    let bytes = chunk
    let last = end
    if (this.#held.length > 0) {
      bytes = Buffer.concat([this.#held, chunk.subarray(0, end)])
      last = bytes.length
    }
    let at = 0
    for (let next = this.#one(bytes, at, last); next > at; next = this.#one(bytes, at, last)) at = next
    this.#held = at < last ? Buffer.from(bytes.subarray(at, last)) : Buffer.alloc(0)
  }

  /** Reads one message or line. Returns the start of the next one, or `at` if this one is incomplete. */
  #one(bytes: Buffer, at: number, end: number): number {
    if (at >= end) return at
    const line = bytes.indexOf(lineEnd, at)
    if (line < 0 || line >= end) return at
    if (bytes[at] !== message) {
      this.handOn(bytes, at, line - 1)
      return line + 1
    }
    const length = lengthBefore(bytes, line - 1)
    const next = line + 1 + length + 2
    if (next > end) return at
    if (this.isExpected(length)) this.count(bytes, line + 1, line + 1 + length)
    else this.handOn(bytes, line + 1, line + 1 + length)
    return next
  }
}

/** Parses the decimal number before `end`. */
function lengthBefore(bytes: Buffer, end: number): number {
  let [value, unit] = [0, 1]
  for (let at = end - 1; (bytes[at] ?? 0) >= 48; at--) {
    value += unit * ((bytes[at] ?? 0) - 48)
    unit *= 10
  }
  return value
}
