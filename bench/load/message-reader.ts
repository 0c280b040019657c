/** Called with a frame: the bytes from `from` to `to`, which are only valid during the call. */
export type OnFrame = (bytes: Buffer, from: number, to: number, opcode: number) => void

/** Bounds of the payload bytes of messages that are counted. Other messages go to `onOther`. */
export interface Expected {
  least: number
  maximum: number
}

/** Counts messages that come from a socket. Looks only at their length, to be fast. */
export abstract class MessageReader {
  frames = 0
  /** Payload bytes of the counted frames. */
  bytes = 0
  /**
   * A hash of the lengths of the counted frames, in their order: equal for receivers that got the same frames in the same
   * order.
   */
  order = 0
  /** Called with each counted frame. */
  watch: OnFrame | undefined
  readonly #expected: Expected
  readonly #onOther: OnFrame

  constructor(expected: Expected, onOther: OnFrame) {
    this.#expected = expected
    this.#onOther = onOther
  }

  /** Reads the bytes of a chunk before `end`. */
  abstract feed(chunk: Buffer, end: number): void

  /** Whether a message with this many payload bytes is counted. */
  protected isExpected(payload: number): boolean {
    return payload >= this.#expected.least && payload <= this.#expected.maximum
  }

  protected count(bytes: Buffer, from: number, to: number): void {
    this.frames++
    this.bytes += to - from
    this.order = (Math.imul(this.order, 31) + to - from) | 0
    this.watch?.(bytes, from, to, 1)
  }

  protected handOn(bytes: Buffer, from: number, to: number, opcode = 1): void {
    this.#onOther(bytes, from, to, opcode)
  }
}
