import type { Expected, OnFrame } from './frame-reader.js'

const lineEnd = 0x0a
/** "M", with which `MSG` begins. */
const message = 0x4d

/** Counts the messages of the NATS protocol, as `FrameReader` does frames. Every other line is handed on. */
export class NatsReader {
  frames = 0
  bytes = 0
  watch: OnFrame | undefined
  readonly #expected: Expected
  readonly #onOther: OnFrame
  #held: Buffer = Buffer.alloc(0)

  constructor(expected: Expected, onOther: OnFrame) {
    this.#expected = expected
    this.#onOther = onOther
  }

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

  /** Gives where the next one begins; `at` where this one is not complete. */
  #one(bytes: Buffer, at: number, end: number): number {
    if (at >= end) return at
    const line = bytes.indexOf(lineEnd, at)
    if (line < 0 || line >= end) return at
    if (bytes[at] !== message) {
      this.#onOther(bytes, at, line - 1, 1)
      return line + 1
    }
    const length = lengthBefore(bytes, line - 1)
    const next = line + 1 + length + 2
    if (next > end) return at
    const { least, most } = this.#expected
    if (length >= least && length <= most) {
      this.frames++
      this.bytes += length
      this.watch?.(bytes, line + 1, line + 1 + length, 1)
    } else this.#onOther(bytes, line + 1, line + 1 + length, 1)
    return next
  }
}

/** The decimal number that ends before `end`. */
function lengthBefore(bytes: Buffer, end: number): number {
  let [value, unit] = [0, 1]
  for (let at = end - 1; (bytes[at] ?? 0) >= 48; at--) {
    value += unit * ((bytes[at] ?? 0) - 48)
    unit *= 10
  }
  return value
}
