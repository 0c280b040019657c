import type { Envelope } from '@meup/protocol'
import { sizeOf } from './heavy.js'
import { holderOf, searchedText, smallLetters } from './searched-text.js'

/** A line that has what was searched for. */
export interface Hit {
  readonly seq: number
  /** Of the envelope whose line it is. */
  readonly id: string
}

/** Looks for a text in a log that grows, a piece at a time. */
export class Search {
  #needle = ''
  #hits: Hit[] = []
  readonly #ids = new Set<string>()
  /** Index of the first envelope that was not looked at. */
  #next = 0
  /** How many texts were looked through of which only the beginning is there. */
  beginnings = 0

  /** Begins anew. */
  ask(query: string): void {
    this.#needle = smallLetters(query).trim()
    this.again()
  }

  /** Other envelopes than before. */
  again(): void {
    this.#hits = []
    this.#ids.clear()
    this.#next = 0
    this.beginnings = 0
  }

  /** Whether something is searched for. */
  get isOn(): boolean {
    return this.#needle !== ''
  }

  get count(): number {
    return this.#hits.length
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** Goes on where it was, until `isEnough`. Whether it is through. */
  work(envelopes: readonly Envelope[], isEnough: () => boolean = () => false): boolean {
    if (!this.isOn) return true
    while (this.#next < envelopes.length) {
      if (this.#next % 64 === 0 && isEnough()) return false
      const envelope = envelopes[this.#next++]
      if (envelope !== undefined) this.#look(envelope)
    }
    return true
  }

  /** Whether so many envelopes were looked at. */
  isThrough(count: number): boolean {
    return !this.isOn || this.#next >= count
  }

  /** The next line behind this seq, or before it; behind the last the first again. */
  step(seq: number, by: 1 | -1): Hit | undefined {
    const hits = this.#hits
    if (by === 1) return hits.find((hit) => hit.seq > seq) ?? hits[0]
    return hits.findLast((hit) => hit.seq < seq) ?? hits.at(-1)
  }

  /** Which one of them has this seq, from 1; 0 = none has. */
  ordinal(seq: number): number {
    return this.#hits.findIndex((hit) => hit.seq === seq) + 1
  }

  #look(envelope: Envelope): void {
    if (sizeOf(envelope) !== undefined) this.beginnings++
    const id = holderOf(envelope)
    if (id === undefined || this.#ids.has(id) || !searchedText(envelope).includes(this.#needle)) return
    this.#ids.add(id)
    this.#hits.push({ seq: envelope.seq ?? 0, id })
  }
}
