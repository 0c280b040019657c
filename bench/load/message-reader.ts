/** Receives a frame: `bytes` from `from` to `to` are only valid during the call. */
export type OnFrame = (bytes: Buffer, from: number, to: number, opcode: number) => void

/** Payload bytes of the messages that are counted; every other one is handed on. */
export interface Expected {
  least: number
  maximum: number
}

/** Counts the messages that come from a socket, and looks at nothing of them but their length. */
export abstract class MessageReader {
  frames = 0
  /** Payload bytes of the counted frames. */
  bytes = 0
  /** A hash of their lengths in their order. */
  order = 0
  /** Called for each counted frame, too. */
  watch: OnFrame | undefined
  readonly #expected: Expected
  readonly #onOther: OnFrame

  constructor(expected: Expected, onOther: OnFrame) {
    this.#expected = expected
    this.#onOther = onOther
  }

  /** Bytes from 0 up to `end`. */
  abstract feed(chunk: Buffer, end: number): void

  /** Whether one with so much payload is counted. */
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
