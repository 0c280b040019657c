import type { Entry } from '../ports/envelope-log.js'

/** One text frame. `event` is what goes out as a server-sent event: it is made by the first connection that needs it. */
export interface Message {
  readonly text: Uint8Array
  /** The same in two pieces, where it is long and nobody has put it together: ASCII, and the bytes that follow it. */
  readonly pieces?: readonly [head: string, tail: Uint8Array]
  /** Absent = not logged. */
  readonly seq?: number
  /** Of its server-sent event; absent = `envelope`. */
  readonly name?: string
  /** Of its server-sent event; absent = its seq. */
  readonly id?: string
  event?: Uint8Array
}

/**
 * Messages that leave together, the same for every connection they go to: encoded once [MEUP-8.4]. `wire` is what goes over a
 * socket; it too is made by the first connection that needs it.
 */
export interface Parcel {
  readonly messages: readonly Message[]
  wire?: Uint8Array
  event?: Uint8Array
}

/** What is delivered of a logged entry: its body with `seq` spliced in front [MEUP-10.1]. */
class LoggedMessage implements Message {
  readonly seq: number
  readonly pieces: readonly [head: string, tail: Uint8Array]
  event?: Uint8Array
  #text: Uint8Array | undefined

  constructor({ seq, body }: Entry) {
    this.seq = seq
    this.pieces = [`{"seq":${seq},`, body.subarray(1)]
  }

  get text(): Uint8Array {
    this.#text ??= joined(this.pieces)
    return this.#text
  }
}

function joined([head, tail]: readonly [head: string, tail: Uint8Array]): Uint8Array {
  const text = Buffer.allocUnsafe(head.length + tail.length)
  text.write(head, 'latin1')
  text.set(tail, head.length)
  return text
}

export const messageOf = (entry: Entry): Message => new LoggedMessage(entry)

/** A frame that is not logged: a welcome or an error. */
export const messageFrom = (envelope: object): Message => ({ text: Buffer.from(JSON.stringify(envelope)) })
