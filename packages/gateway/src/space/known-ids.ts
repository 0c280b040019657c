import { digestOf } from '../log/chain.js'
import { type Message, messageOf } from '../outbox/parcel.js'
import type { Draft, Entry, EnvelopeLog } from '../ports/envelope-log.js'
import type { Origin } from './may-read.js'

/** Where the log has, or will have, an envelope; `message` once it is committed. */
export interface KnownId {
  readonly seq: number
  readonly message?: Message
}

/** The ids of a space: those on their way into the log, and those in it [MEUP-1.10]. */
export class KnownIds {
  readonly #log: EnvelopeLog
  readonly #inFlight = new Map<string, Draft>()

  constructor(log: EnvelopeLog) {
    this.#log = log
  }

  /** `other` = the id stands for something else than this content of this sender. */
  find(id: string, from: string, content: Uint8Array): KnownId | 'other' | undefined {
    const draft = this.#inFlight.get(id)
    if (draft !== undefined) {
      return draft.from === from && Buffer.compare(draft.content, content) === 0
        ? { seq: draft.seq }
        : 'other'
    }
    const row = this.#log.find(id)
    if (row === undefined) return undefined
    const same = row.from === from && Buffer.compare(row.digest, digestOf(row.salt, content)) === 0
    return same ? { seq: row.seq, message: messageOf(row) } : 'other'
  }

  originOf(id: string): Origin | undefined {
    return this.#inFlight.get(id) ?? this.#log.find(id)
  }

  admit(draft: Draft): void {
    this.#inFlight.set(draft.id, draft)
  }

  settle(entries: readonly Entry[]): void {
    for (const { id } of entries) this.#inFlight.delete(id)
  }
}
