import { printable } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { getLineId } from '../log/lines.js'
import { getFullSize } from '../log/truncate.js'

/** A line that has what was searched for. */
export interface Hit {
  readonly seq: number
  /** Of the envelope whose line it is. */
  readonly id: string
}

/** Incremental text search over a growing log. */
export class Search {
  #needle = ''
  #hits: Hit[] = []
  readonly #ids = new Set<string>()
  /** Index of the first envelope that was not looked at. */
  #next = 0
  /** How many searched texts are truncated. */
  beginnings = 0

  /** Starts a new search. */
  start(query: string): void {
    this.#needle = normalizeText(query).trim()
    this.reset()
  }

  /** Other envelopes than before. */
  reset(): void {
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

  /** Whether the first `count` envelopes have been searched. */
  isThrough(count: number): boolean {
    return !this.isOn || this.#next >= count
  }

  /** Returns the next hit after (1) or before (-1) this seq, wrapping around. */
  step(seq: number, by: 1 | -1): Hit | undefined {
    const hits = this.#hits
    if (by === 1) return hits.find((hit) => hit.seq > seq) ?? hits[0]
    return hits.findLast((hit) => hit.seq < seq) ?? hits.at(-1)
  }

  /** Position of the hit with this seq, from 1; 0 if there is none. */
  ordinal(seq: number): number {
    return this.#hits.findIndex((hit) => hit.seq === seq) + 1
  }

  #look(envelope: Envelope): void {
    if (getFullSize(envelope) !== undefined) this.beginnings++
    const id = getLineId(envelope)
    if (id === undefined || this.#ids.has(id) || !searchedText(envelope).includes(this.#needle)) return
    this.#ids.add(id)
    this.#hits.push({ seq: envelope.seq ?? 0, id })
  }
}

/** Characters of one envelope that are looked through. */
const maxSearchedChars = 200_000
const plain = /^[\n\t\x20-\x7e]*$/

/** What of an envelope can be found: who sent it, what it is, and every text and name in it, in small letters. */
function searchedText({ from, kind, context = '', rationale = '', payload }: Envelope): string {
  const parts = [from, kind, context, rationale]
  let left = maxSearchedChars
  const gather = (value: unknown): void => {
    if (left <= 0) return
    if (typeof value === 'object' && value !== null) {
      for (const [name, each] of Object.entries(value)) {
        if (!Array.isArray(value)) gather(name)
        gather(each)
      }
    } else if (value !== undefined) {
      const text = String(value).slice(0, left)
      left -= text.length
      parts.push(text)
    }
  }
  gather(payload)
  return normalizeText(parts.join('\n'))
}

/** As it shows: without what cannot be seen. */
const normalizeText = (text: string): string => (plain.test(text) ? text : printable(text)).toLowerCase()
