import { Kind } from '@meup/protocol'
import type { Running } from '../peers/contenders.js'
import { receiverName, senderName } from '../peers/space.js'
import { meup } from './dialects.js'
import type { Connection } from './line.js'
import type { Expected } from './message-reader.js'
import { openSeats } from './seats.js'
import { Sender } from './sender.js'
import { freshName, messagesOf, Template } from './template.js'
import type { TextKind } from './texts.js'
import { checkOrder, until } from './waiting.js'

export interface CrowdOptions {
  readonly receivers: number
  readonly senders: number
  /** Bytes of the longest message. */
  readonly size: number
  /** Kind of the messages' texts; default `cut`, of which all have the same length. */
  readonly texts?: TextKind
  /** Sends thoughts in one run per sender instead of chats. */
  readonly thoughts?: boolean
  /** Number of the first message; default 0. It becomes part of the id, which a gateway accepts only once. */
  readonly first?: number
  /** Checks at each receiver that the messages of each sender are complete and in order. */
  readonly verify?: boolean
}

/** Bytes that a server may add to a message: `seq`, and the frame of Socket.IO. */
const slack = { least: 0, maximum: 20 }

/** Senders and receivers that are connected to one server. */
export class Crowd {
  readonly server: Running
  readonly senders: readonly Sender[]
  readonly receivers: readonly Connection[]
  readonly options: CrowdOptions
  readonly failed: Promise<never>

  private constructor(
    server: Running,
    senders: readonly Sender[],
    receivers: readonly Connection[],
    options: CrowdOptions,
  ) {
    this.server = server
    this.senders = senders
    this.receivers = receivers
    this.options = options
    this.failed = Promise.race(this.#lines.map(({ failed }) => failed))
    this.failed.catch(() => {})
  }

  get #lines(): Connection[] {
    return [...this.receivers, ...this.senders.map(({ line }) => line)]
  }

  /** Opens all connections, and waits until the gateway's messages about their joins have arrived. */
  static async gather(server: Running, options: CrowdOptions): Promise<Crowd> {
    const { receivers: count, senders: many, size, thoughts = false, verify = false, first = 0 } = options
    const { texts = 'cut' } = options
    // Counts nothing until all connections are open.
    const expected: Expected = { least: Number.POSITIVE_INFINITY, maximum: 0 }
    const names = [...fill(many, senderName), ...fill(count, receiverName)]
    const lines = await openSeats(server, names, expected)
    const senders = lines.slice(0, many).map((line, index) => {
      const context = thoughts ? `run-${index}-${freshName()}` : undefined
      const kind = thoughts ? Kind.reasoningThought : Kind.chat
      const said = { kind, texts, ...(context && { context }) }
      // Opens the context on a gateway; the other servers do not know contexts.
      if (context !== undefined && server.dialect === meup) begin(line, context)
      return new Sender(index, line, new Template(messagesOf(index, size, said), line.wrapping), first)
    })
    const crowd = new Crowd(server, senders, lines.slice(many), options)
    await crowd.#settle(expected)
    for (const { reader, seat } of verify ? crowd.receivers : []) {
      checkOrder(
        reader,
        seat.participant,
        senders.map(({ sent }) => sent),
      )
    }
    for (const sender of senders) sender.watchOwn(many)
    return crowd
  }

  /**
   * Sends one message from each sender to all receivers, of any length. Once they have arrived, no messages about joins are in
   * flight.
   */
  async #settle(expected: Expected): Promise<void> {
    const templates = this.senders.map(({ template }) => template)
    expected.least = Math.min(...templates.map(({ minSize }) => minSize)) - slack.least
    expected.maximum = Math.max(...templates.map(({ maxSize }) => maxSize)) + slack.maximum
    const heard = new Map<Connection, number>()
    const lines = this.#lines
    for (const line of lines) {
      line.reader.watch = (bytes, from, to) => {
        if (bytes.subarray(from, to).includes('"id":"s')) heard.set(line, (heard.get(line) ?? 0) + 1)
      }
    }
    for (const sender of this.senders) sender.send(1)
    await this.within(until(() => lines.every((line) => heard.get(line) === this.senders.length)))
    for (const { reader } of lines) {
      reader.watch = undefined
      reader.frames = 0
      reader.bytes = 0
      reader.order = 0
    }
    for (const sender of this.senders) sender.echoed = sender.sent
  }

  /** Number of messages that all receivers together have got. */
  get delivered(): number {
    return this.receivers.reduce((sum, { reader }) => sum + reader.frames, 0)
  }

  /** Number of messages that have come back to their senders. */
  get echoed(): number {
    return this.senders.reduce((sum, sender) => sum + sender.echoed, 0)
  }

  keep(window: number): void {
    for (const sender of this.senders) sender.keep(window)
  }

  /**
   * Stops sending, and waits until all receivers have all messages. Fails if one has other messages, or the messages of a
   * sender in another order than the other receivers.
   */
  async drain(): Promise<void> {
    this.keep(0)
    const sent = this.senders.reduce((sum, sender) => sum + sender.sent - sender.first - 1, 0)
    const isThere = ({ reader }: Connection): boolean => reader.frames >= sent
    await this.within(until(() => this.#lines.every(isThere)))
    const sizes = new Set(
      this.receivers.map(({ reader: { frames, bytes } }) => `${frames} with ${bytes} bytes`),
    )
    if (sizes.size > 1 || this.#lines.some(({ reader }) => reader.frames !== sent)) {
      throw new Error(`${sent} messages were sent; receivers have ${[...sizes].join(', ')}`)
    }
    const orders = new Set(this.receivers.map(({ reader }) => reader.order))
    if (this.senders.length === 1 && orders.size > 1) {
      throw new Error(`receivers got the ${sent} messages in ${orders.size} orders`)
    }
  }

  /** Waits for `work`. Rejects if a connection fails before `work` has ended. */
  within<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.failed])
  }

  async close(): Promise<void> {
    await Promise.all(this.#lines.map((line) => line.close()))
  }
}

const fill = (count: number, name: (i: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => name(i))

/** Opens the run in which a sender sends all its thoughts. */
function begin({ socket, wrapping }: Connection, id: string): void {
  const text = Buffer.from(
    JSON.stringify({ id, kind: Kind.reasoningStart, payload: { message: 'Looking.' } }),
  )
  socket.write(Buffer.concat([wrapping.before(text.length), text, wrapping.after]))
}
