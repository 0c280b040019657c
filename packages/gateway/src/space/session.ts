import { type Capability, closeCodes, type SubscribePayload } from '@meup/protocol'
import type { Message, Parcel } from '../outbox/parcel.js'
import type { Connection } from '../ports/connection.js'
import type { Reader } from './may-read.js'
import type { Sender } from './sender.js'
import { compileSubscription, type Subscription } from './subscription.js'

/** Who opens a session. */
export interface Visitor {
  readonly participant: string
  /** Whose buckets pay: the participant, or a guest's address. */
  readonly payer: string
  readonly capabilities: readonly Capability[]
}

/** One connection of one participant: what it may read, what it asked to see, how far it has been served. */
export class Session implements Sender, Reader {
  readonly connection: Connection
  readonly participant: string
  readonly payer: string
  /** What it may do as it enters. */
  readonly capabilities: readonly Capability[]
  readonly readsTargeted: boolean
  subscription: Subscription = compileSubscription({})
  /** Sessions of one group differ only in what is addressed to them and what they sent. */
  group: string
  /** What the subscription has cut since the connection opened. */
  readonly suppressed = { envelopes: 0, bytes: 0 }
  /** Last seq of the log that was decided on for this connection. */
  position = 0
  /** Served as commits happen; before that, from the log. */
  live = false
  closed = false
  readonly #sendBufferBytes: number
  readonly #resubscribed: (session: Session) => void

  constructor(
    connection: Connection,
    visitor: Visitor & { readsTargeted: boolean },
    options: { sendBufferBytes: number; resubscribed(session: Session): void },
  ) {
    this.connection = connection
    this.participant = visitor.participant
    this.payer = visitor.payer
    this.capabilities = visitor.capabilities
    this.readsTargeted = visitor.readsTargeted
    this.group = groupOf(this)
    this.#sendBufferBytes = options.sendBufferBytes
    this.#resubscribed = options.resubscribed
  }

  /** A reader too slow for what waits is closed, and resumes from its last seq: nothing is dropped [MEUP-5.8]. */
  send(parcel: Parcel): void {
    if (this.closed) return
    if (this.connection.pending > this.#sendBufferBytes) {
      this.close(closeCodes.tooSlow, `more than ${this.#sendBufferBytes} bytes wait; reconnect with after=`)
      return
    }
    this.connection.send(parcel)
  }

  reply(message: Message): void {
    this.send({ messages: [message] })
  }

  echo(seq: number, message: Message): void {
    if (this.live || seq <= this.position) this.reply(message)
  }

  subscribe(asked: SubscribePayload): void {
    this.subscription = compileSubscription(asked)
    this.group = groupOf(this)
    this.#resubscribed(this)
  }

  suppress(envelopes: number, bytes: number): void {
    this.suppressed.envelopes += envelopes
    this.suppressed.bytes += bytes
  }

  close(code: number, reason: string): void {
    if (this.closed) return
    this.closed = true
    this.connection.close(code, reason)
  }
}

const groupOf = ({ readsTargeted, subscription }: Session): string =>
  `${readsTargeted ? 'all' : 'own'} ${subscription.key}`
