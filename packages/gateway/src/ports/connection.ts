import type { SubscribePayload, WorkMeter } from '@meup/protocol'
import type { Entry } from './envelope-log.js'

/** One client's line to the gateway; a socket, or its equal in memory. */
export interface Connection {
  /** Address of the peer, for limits and the operator's log. */
  readonly remote: string
  /** Bytes that were sent and that the peer has not taken yet. */
  readonly pending: number
  /** Nothing that is sent arrives any more. */
  readonly isGone: boolean
  send(outboundBatch: OutboundBatch): void
  /** Resolves when little of what was sent still waits, or when the connection is gone. */
  drained(): Promise<void>
  /** Sends what waits, then closes. */
  close(code: number, reason: string): void
}

/** A line that only shows what happens. What is not logged it leaves out. */
export interface Feed extends Connection {
  /** Said first where the reader's place is not in this log: everything follows, from seq `from` to `to` and on. */
  lost(place: { readonly epoch: string; readonly from: number; readonly to: number }): void
}

/** One text frame. `event` is what goes out as a server-sent event: it is made by the first connection that needs it. */
export interface Message {
  readonly text: Uint8Array
  /** What it is made of, where that is logged: so it need not be put together to be copied (`putText`). */
  readonly logged?: Entry
  /** Absent = not logged. */
  readonly seq?: number
  /** Of its server-sent event; absent = `envelope`, and no event where it is not logged. */
  readonly name?: string
  /** Of its server-sent event; absent = its seq. */
  readonly id?: string
  event?: Uint8Array
}

/**
 * Messages that leave together, the same for every connection they go to: encoded once [MEUP-8.4]. `wire` is what goes over a
 * socket; it too is made by the first connection that needs it.
 */
export interface OutboundBatch {
  readonly messages: readonly Message[]
  wire?: Uint8Array
  event?: Uint8Array
}

/** What is delivered of a logged entry: its body with `seq` spliced in front [MEUP-10.1]. */
class LoggedMessage implements Message {
  event?: Uint8Array
  #text: Uint8Array | undefined

  constructor(readonly logged: Entry) {}

  get seq(): number {
    return this.logged.seq
  }

  get text(): Uint8Array {
    if (this.#text === undefined) {
      this.#text = Buffer.allocUnsafe(measureMessage(this))
      putText(this, this.#text, 0)
    }
    return this.#text
  }
}

const opening = Buffer.from('{"seq":')
const [comma, zero] = [0x2c, 0x30]

/** Bytes of a message. */
export function measureMessage(message: Message): number {
  const { logged } = message
  if (logged === undefined) return message.text.length
  return opening.length + countDigits(logged.seq) + logged.body.length // The comma takes the place of the brace.
}

/** Copies a message to a place where there is room for it. */
export function putText(message: Message, into: Uint8Array, at: number): void {
  const { logged } = message
  if (logged === undefined) {
    into.set(message.text, at)
    return
  }
  const { seq, body } = logged
  const end = at + opening.length + countDigits(seq)
  into.set(opening, at)
  for (let place = end - 1, rest = seq; place >= at + opening.length; place--) {
    const left = Math.floor(rest / 10)
    into[place] = zero + (rest - 10 * left)
    rest = left
  }
  into.set(body, end)
  into[end] = comma
}

function countDigits(seq: number): number {
  let digits = 1
  for (let power = 10; power <= seq; power *= 10) digits++
  return digits
}

/** A message as bytes that are not copied where it is logged, and nobody has put it together. */
export function splitMessage(message: Message): readonly Uint8Array[] {
  const { logged } = message
  if (logged === undefined) return [message.text]
  return [Buffer.from(`{"seq":${logged.seq},`), logged.body.subarray(1)]
}

export const createLoggedMessage = (entry: Entry): Message => new LoggedMessage(entry)

/** A frame that is not logged: a welcome or an error. */
export const messageFrom = (envelope: object): Message => ({ text: Buffer.from(JSON.stringify(envelope)) })

/** A sender of envelopes: a connection or an HTTP request. */
export interface Sender {
  readonly participant: string
  /** The participant, or the address of a guest. */
  readonly rateLimitKey: string
  /** The program that it belongs to, as its connection has named it [MEUP-2.14]. */
  readonly session?: string
  /** It is over with its answer: a request over HTTP. */
  readonly isRequest?: boolean
  /** Sends a frame to this sender alone. */
  reply(message: Message): void
  /** Repeats an entry that the sender has received, unless its connection has yet to deliver it. */
  echo(seq: number, message: Message): void
  /** Changes the subscription as the envelope `id` asks, and returns the bytes of the answer; absent without a connection. */
  readonly subscribe?: (asked: SubscribePayload, id: string, meter: WorkMeter) => number
}
