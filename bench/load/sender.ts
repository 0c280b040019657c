import type { Connection } from './line.js'
import { mark, type Template } from './template.js'

const digit = 48

/** Keeps a window of messages in flight: sends as many new messages as have come back, with one write for each read. */
export class Sender {
  readonly index: number
  readonly line: Connection
  template: Template
  /** Number of the first message. */
  readonly first: number
  /** Number of the next message. */
  sent: number
  /** Number of the next message that will come back. */
  echoed: number
  #window = 0

  constructor(index: number, line: Connection, template: Template, first = 0) {
    this.index = index
    this.line = line
    this.template = template
    this.first = first
    this.sent = first
    this.echoed = first
  }

  /** Number of messages in flight. */
  get underway(): number {
    return this.sent - this.echoed
  }

  send(count: number): void {
    if (count <= 0) return
    this.line.socket.write(this.template.make(this.sent, count))
    this.sent += count
  }

  /** Keeps `window` messages in flight from now on; 0 = sends no new ones. */
  keep(window: number): void {
    this.#window = window
    this.pump()
  }

  pump(): void {
    this.send(this.#window - this.underway)
  }

  /** Counts the sender's own messages among those received. With a single sender, all are its own. */
  watchOwn(senders: number): void {
    const { reader } = this.line
    if (senders === 1) {
      let counted = reader.frames
      this.line.onRead = () => {
        this.echoed += reader.frames - counted
        counted = reader.frames
        this.pump()
      }
      return
    }
    const { minSize, maxSize } = this.template
    let fromEnd = 0
    reader.watch = (bytes, from, to) => {
      if (fromEnd === 0 || minSize < maxSize) fromEnd = to - placeOfSender(bytes, from, to)
      if (bytes[to - fromEnd] === digit + this.index) this.echoed++
    }
    this.line.onRead = () => this.pump()
  }
}

/**
 * Returns the offset of the sender's digit in a message. In messages of equal length, it has the same distance from the end.
 */
export function placeOfSender(bytes: Buffer, from: number, to: number): number {
  const at = bytes.subarray(from, to).indexOf(mark)
  if (at < 0) throw new Error(`this is no message of the load: ${bytes.toString('utf8', from, to)}`)
  return from + at + mark.length
}
