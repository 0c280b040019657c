import type { Entry } from '../ports/envelope-log.js'

/**
 * One text frame. `wire` is what goes over a socket, `event` what goes out as a server-sent event: each is made by the
 * first connection that needs it.
 */
export interface Message {
  readonly text: Uint8Array
  /** Absent = not logged. */
  readonly seq?: number
  /** Of its server-sent event; absent = `envelope`. */
  readonly name?: string
  /** Of its server-sent event; absent = its seq. */
  readonly id?: string
  wire?: Uint8Array
  event?: Uint8Array
}

/** Messages that leave together, the same for every connection they go to: encoded once [MEUP-8.4]. */
export interface Parcel {
  readonly messages: readonly Message[]
  wire?: Uint8Array
  event?: Uint8Array
}

/** What is delivered of a logged entry: its body with `seq` spliced in front [MEUP-10.1]. */
export function messageOf(entry: Entry): Message {
  const prefix = `{"seq":${entry.seq},`
  const text = Buffer.allocUnsafe(prefix.length + entry.body.length - 1)
  text.write(prefix, 'latin1')
  text.set(entry.body.subarray(1), prefix.length)
  return { text, seq: entry.seq }
}

/** A frame that is not logged: a welcome or an error. */
export const messageFrom = (envelope: object): Message => ({ text: Buffer.from(JSON.stringify(envelope)) })
