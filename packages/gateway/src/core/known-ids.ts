import { contextRoot, type WorkMeter } from '@meup/protocol'
import { hashContent } from '../log/chain.js'
import { createLoggedMessage, type Message } from '../ports/connection.js'
import type { Draft, Entry, EnvelopeLog, Heading } from '../ports/envelope-log.js'

/** Where the log has, or will have, an envelope; `message` once it is committed. */
interface KnownId {
  readonly seq: number
  readonly message?: Message
}

/** Bytes of a row that are read from the log in about a microsecond. */
const bytesPerUnit = 1024

/** Drafts by their ids, and the roots of the contexts that they are in. */
class InFlight {
  readonly drafts = new Map<string, Draft>()
  readonly roots = new Set<string>()
}

/** The ids and the contexts of a space: those on their way into the log, and those in it [MEUP-1.10]. */
export class KnownIds {
  readonly #log: EnvelopeLog
  /**
   * On their way, in two that are replaced once they are empty: the tables that a map has outgrown are linked to those
   * that follow, so that one map for all would have what was deleted from it outlive the collection of young objects.
   */
  #older = new InFlight()
  #newer = new InFlight()

  constructor(log: EnvelopeLog) {
    this.#log = log
  }

  /**
   * `other` = the id stands for something else than this content of this sender. The meter pays for reading what the sender
   * itself has sent before, as far as it can.
   */
  find(id: string, from: string, content: Uint8Array, meter: WorkMeter): KnownId | 'other' | undefined {
    const draft = this.#findDraft(id)
    if (draft !== undefined) {
      return draft.from === from && Buffer.compare(draft.content, content) === 0
        ? { seq: draft.seq }
        : 'other'
    }
    const heading = this.#log.heading(id)
    if (heading === undefined) return undefined
    const row = heading.from === from ? this.#log.find(id) : undefined
    if (row === undefined) return 'other'
    meter.charge(Math.min(row.body.length / bytesPerUnit, Math.floor(meter.left)), 'bytes to read')
    const same = Buffer.compare(row.digest, hashContent(row.salt, content)) === 0
    return same ? { seq: row.seq, message: createLoggedMessage(row) } : 'other'
  }

  /** Of what was admitted, committed or not. */
  findOrigin(id: string): Heading | undefined {
    return this.#findDraft(id) ?? this.#log.heading(id)
  }

  /** The same with its body. */
  findEntry(id: string): Entry | undefined {
    return this.#findDraft(id) ?? this.#log.find(id)
  }

  /** Whether anything admitted is in the context that is this root, or below it [MEUP-2.12]. */
  hasContext(root: string): boolean {
    return this.#older.roots.has(root) || this.#newer.roots.has(root) || this.#log.hasContext(root)
  }

  admit(draft: Draft): void {
    this.#newer.drafts.set(draft.id, draft)
    if (draft.context !== undefined) this.#newer.roots.add(contextRoot(draft.context))
  }

  settle(entries: readonly Entry[]): void {
    for (const { id } of entries) if (!this.#older.drafts.delete(id)) this.#newer.drafts.delete(id)
    if (this.#older.drafts.size > 0) return
    // What a failed commit has lost leaves no roots behind.
    this.#older = this.#newer.drafts.size > 0 ? this.#newer : new InFlight()
    this.#newer = new InFlight()
  }

  #findDraft(id: string): Draft | undefined {
    return this.#older.drafts.get(id) ?? this.#newer.drafts.get(id)
  }
}
