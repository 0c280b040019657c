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
  /**
   * On their way, in two maps that are replaced once they are empty: the tables that a map has outgrown are linked to those
   * that follow, so that one map for all would have what was deleted from it outlive the collection of young objects.
   */
  #older = new Map<string, Draft>()
  #newer = new Map<string, Draft>()

  constructor(log: EnvelopeLog) {
    this.#log = log
  }

  /** `other` = the id stands for something else than this content of this sender. */
  find(id: string, from: string, content: Uint8Array): KnownId | 'other' | undefined {
    const draft = this.#draftOf(id)
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
    return this.#draftOf(id) ?? this.#log.find(id)
  }

  admit(draft: Draft): void {
    this.#newer.set(draft.id, draft)
  }

  settle(entries: readonly Entry[]): void {
    for (const { id } of entries) if (!this.#older.delete(id)) this.#newer.delete(id)
    if (this.#older.size > 0) return
    this.#older = this.#newer
    this.#newer = new Map()
  }

  #draftOf(id: string): Draft | undefined {
    return this.#older.get(id) ?? this.#newer.get(id)
  }
}
