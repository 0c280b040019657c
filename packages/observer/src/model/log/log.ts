import type { ReadableLog } from '@meup/folds'
import { correlations, type Envelope } from '@meup/protocol'

/** Maximum number of envelopes in each page that an explanation of an answer reads from the log, latest first. */
const pageLength = 256

/** The loaded part of a space's log, in order. */
export class Log implements ReadableLog {
  #envelopes: Envelope[] = []
  #byId = new Map<string, Envelope>()
  #answers = new Map<string, string[]>()

  get envelopes(): readonly Envelope[] {
    return this.#envelopes
  }

  /** Seq of the oldest loaded envelope; 0 if none. */
  get first(): number {
    return this.#envelopes[0]?.seq ?? 0
  }

  get last(): number {
    return this.#envelopes.at(-1)?.seq ?? 0
  }

  /** Number of missing seqs between the first and the last envelope. */
  get missing(): number {
    return this.#envelopes.length === 0 ? 0 : this.last - this.first + 1 - this.#envelopes.length
  }

  get isWhole(): boolean {
    return this.first <= 1 && this.missing === 0
  }

  /** Whether this seq is within the loaded range. */
  covers(seq: number): boolean {
    return seq >= this.first && seq <= this.last
  }

  get(id: string): Envelope | undefined {
    return this.#byId.get(id)
  }

  heading(id: string): Envelope | undefined {
    return this.get(id)
  }

  before(seq: number): readonly Envelope[] {
    const count = this.countThrough(seq - 1)
    return this.#envelopes.slice(Math.max(count - pageLength, 0), count).reverse()
  }

  at(seq: number): Envelope | undefined {
    const found = this.#envelopes[this.countThrough(seq) - 1]
    return found?.seq === seq ? found : undefined
  }

  /** Number of envelopes up to this seq. */
  countThrough(seq: number): number {
    let [low, high] = [0, this.#envelopes.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#envelopes[middle]?.seq ?? 0) <= seq) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Ids of envelopes that refer to this one. */
  answersTo(id: string): readonly string[] {
    return this.#answers.get(id) ?? []
  }

  /** Appends an envelope; returns `false` if it is not newer than the last one. */
  append(envelope: Envelope): boolean {
    if (envelope.seq === undefined || envelope.seq <= this.last) return false
    this.#envelopes.push(envelope)
    this.#addToIndexes(envelope)
    return true
  }

  /** Takes over the contents of another log, which must not be used after that. */
  replaceWith(other: Log): void {
    this.#envelopes = other.#envelopes
    this.#byId = other.#byId
    this.#answers = other.#answers
  }

  /** Drops all but the latest `maxEnvelopes` envelopes. */
  keepLast(maxEnvelopes: number): void {
    const dropped = this.#envelopes.splice(0, Math.max(this.#envelopes.length - maxEnvelopes, 0))
    for (const { id } of dropped) {
      this.#byId.delete(id)
      this.#answers.delete(id)
    }
  }

  /** Drops the envelopes after this seq. */
  truncateAfter(seq: number): void {
    const count = this.countThrough(seq)
    const dropped = this.#envelopes.slice(count)
    this.#envelopes = this.#envelopes.slice(0, count)
    for (const { id } of dropped) this.#byId.delete(id)
    for (const id of new Set(dropped.flatMap((each) => correlations(each)))) {
      const left = this.#answers.get(id)?.filter((answer) => this.#byId.has(answer)) ?? []
      if (left.length === 0) this.#answers.delete(id)
      else this.#answers.set(id, left)
    }
  }

  #addToIndexes(envelope: Envelope): void {
    this.#byId.set(envelope.id, envelope)
    for (const id of correlations(envelope)) {
      const answers = this.#answers.get(id)
      if (answers === undefined) this.#answers.set(id, [envelope.id])
      else answers.push(envelope.id)
    }
  }
}
