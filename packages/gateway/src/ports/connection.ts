import type { SubscribePayload, WorkMeter } from '@meup/protocol'
import type { Entry } from './envelope-log.js'

/** A connection of one client to the gateway: a socket, or its equivalent in memory. */
export interface Connection {
  /** Address of the peer, for limits and the operator's log. */
  readonly remote: string
  /** Bytes that were sent, and that the peer has not read yet. */
  readonly pending: number
  /** Whether the connection has ended, so that nothing can be sent any more. */
  readonly isGone: boolean
  send(outboundBatch: OutboundBatch): void
  /** Resolves when few unsent bytes are left, or when the connection has ended. */
  drained(): Promise<void>
  /** Sends what is pending, then closes the connection. */
  close(code: number, reason: string): void
}

/** A connection that only receives events. It skips messages that are not logged. */
export interface Feed extends Connection {
  /**
   * Announces that the reader's position is not in this log: all envelopes follow, those from seq `from` to `to` and later
   * ones.
   */
  lost(place: { readonly epoch: string; readonly from: number; readonly to: number }): void
}

/** One text frame. `event` is its encoding as a server-sent event, made on first use. */
export interface Message {
  readonly text: Uint8Array
  /** The entry of a logged message: `putText` copies it without building `text`. */
  readonly logged?: Entry
  /** Seq of the logged entry; absent = not logged. */
  readonly seq?: number
  /** Name of the server-sent event; absent = `envelope`, or no event for a message that is not logged. */
  readonly name?: string
  /** Id of the server-sent event; absent = its seq. */
  readonly id?: string
  event?: Uint8Array
}

/**
 * Messages that are sent together to several connections and encoded once [MEUP-8.4]. `wire` holds the WebSocket frames, made
 * on first use.
 */
export interface OutboundBatch {
  readonly messages: readonly Message[]
  wire?: Uint8Array
  event?: Uint8Array
}

/** The message of a logged entry: its body with `seq` spliced in front [MEUP-10.1]. */
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

export function measureMessage(message: Message): number {
  const { logged } = message
  if (logged === undefined) return message.text.length
  return opening.length + countDigits(logged.seq) + logged.body.length // A comma replaces the opening brace.
}

/** Copies a message into a buffer with sufficient space. */
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

/** The bytes of a message; for a logged one without copying the body. */
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
  /** The program to which the sender belongs, as its connection has named it [MEUP-2.14]. */
  readonly session?: string
  /** A request over HTTP, which ends with its answer. */
  readonly isRequest?: boolean
  /** Sends a frame to this sender alone. */
  reply(message: Message): void
  /** Sends a logged entry to its sender again, unless the connection has yet to deliver it in the order of the log. */
  echo(seq: number, message: Message): void
  /** Changes the subscription as the envelope `id` asks, and returns the bytes of the answer; absent without a connection. */
  readonly subscribe?: (asked: SubscribePayload, id: string, meter: WorkMeter) => number
}
