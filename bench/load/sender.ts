import type { Connection } from './line.js'
import { mark, type Template } from './template.js'

const digit = 48

/** Keeps a window of messages in flight: sends as many as return, those of one read with one write. */
export class Sender {
  readonly index: number
  readonly line: Connection
  template: Template
  /** The number of its first message. */
  readonly first: number
  /** The number of the next one. */
  sent: number
  /** `sent` of the returned messages. */
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

  /** Messages that have not come back. */
  get underway(): number {
    return this.sent - this.echoed
  }

  send(count: number): void {
    if (count <= 0) return
    this.line.socket.write(this.template.make(this.sent, count))
    this.sent += count
  }

  /** From now on as many as `window` are on their way; 0 = no new ones. */
  keep(window: number): void {
    this.#window = window
    this.pump()
  }

  pump(): void {
    this.send(this.#window - this.underway)
  }

  /** Looks for its own messages among those received. With a single sender, all are its own. */
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

/** The offset of the sender's digit in a message. Messages of equal length have it at the same distance from the end. */
export function placeOfSender(bytes: Buffer, from: number, to: number): number {
  const at = bytes.subarray(from, to).indexOf(mark)
  if (at < 0) throw new Error(`this is no message of the load: ${bytes.toString('utf8', from, to)}`)
  return from + at + mark.length
}
