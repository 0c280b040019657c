import { LogError } from '@meup/gateway'
import { getLastSeq } from './batch.js'
import { type Nats, requestMs } from './connect.js'
import { streamTexts } from './errors.js'
import { getApiCode } from './nats-error.js'
import type { StreamNames } from './streams.js'
import { removeMessage, type StoredBatch } from './subject-log.js'

const wrongLastSequence = 10071

/**
 * Batches rewritten without the bodies of their erased rows; each replaces a removed message [MEUP-10.10]. Each batch has its
 * own subject, of which only the last message is valid.
 */
export class Rewrites {
  readonly #nats: Nats
  readonly #place: StreamNames
  readonly #stored: (at: number, data: Uint8Array) => StoredBatch

  constructor(nats: Nats, place: StreamNames, stored: (at: number, data: Uint8Array) => StoredBatch) {
    this.#nats = nats
    this.#place = place
    this.#stored = stored
  }

  /** The rewritten batch that contains this row; `undefined` = none. */
  async find(row: number): Promise<StoredBatch | undefined> {
    const first = (await this.#firsts()).findLast((each) => each <= row)
    const batch = first === undefined ? undefined : await this.#last(first)
    return batch !== undefined && getLastSeq(batch.head) >= row ? batch : undefined
  }

  /**
   * Writes a rewritten batch in place of its earlier version, and then removes that. `before`: the batch that `find` returned,
   * never an original one; `undefined` = not rewritten yet. Rejects with `fenced` if another gateway has rewritten it already.
   */
  async keep(first: number, data: Uint8Array, before: StoredBatch | undefined): Promise<void> {
    try {
      await this.#nats.js.publish(this.#subject(first), data, {
        timeout: requestMs,
        expect: { lastSubjectSequence: before?.at ?? 0 },
      })
    } catch (error) {
      if (getApiCode(error) !== wrongLastSequence) throw error
      throw new LogError('fenced', streamTexts.rewritten, { first }, { cause: error })
    }
    await this.tidy(first)
  }

  /** Removes the messages that the rewritten batch beginning with row `first` has replaced; again after a crash in `keep`. */
  async tidy(first: number): Promise<void> {
    const last = await this.#last(first)
    for (;;) {
      const stored = await this.#find({ seq: 1, next_by_subj: this.#subject(first) })
      if (stored === null || last === undefined || stored.seq >= last.at) return
      await removeMessage(this.#nats, this.#place.stream, stored.seq)
    }
  }

  /** Removes rewritten batches whose rows are all pruned. */
  async prune(through: number): Promise<void> {
    for (const first of await this.#firsts()) {
      const batch = first > through ? undefined : await this.#last(first)
      if (batch === undefined || getLastSeq(batch.head) > through) continue
      await this.#nats.manager.streams.purge(this.#place.stream, { filter: this.#subject(first) })
    }
  }

  /** The first row of each rewritten batch, ascending. */
  async #firsts(): Promise<number[]> {
    const { stream, rewritten } = this.#place
    const { state } = await this.#nats.manager.streams.info(stream, { subjects_filter: `${rewritten}.*` })
    const subjects = Object.keys(state.subjects ?? {})
    return subjects
      .map((subject) => Number(subject.slice(rewritten.length + 1)))
      .sort((one, other) => one - other)
  }

  async #last(first: number): Promise<StoredBatch | undefined> {
    const stored = await this.#find({ last_by_subj: this.#subject(first) })
    return stored === null ? undefined : this.#stored(stored.seq, stored.data)
  }

  #find(query: { last_by_subj: string } | { seq: number; next_by_subj?: string }) {
    return this.#nats.manager.streams.getMessage(this.#place.stream, query)
  }

  #subject(first: number): string {
    return `${this.#place.rewritten}.${first}`
  }
}
