import { Bounded } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { parseEnvelope } from '../log/entries.js'
import type { Entry, EnvelopeLog } from '../ports/envelope-log.js'

/** Bytes of bodies whose envelopes are kept. Parsed, they take about three times as much memory. */
const maxBytes = 1024 * 1024
/** One envelope may take this part of it. */
const maxPart = 1 / 8

interface Parsed {
  readonly envelope: Envelope
  readonly bytes: number
}

/** What is asked of a space. */
interface LoggedRows {
  readonly log: Pick<EnvelopeLog, 'oldest'>
  wasErased(seq: number): boolean
}

/**
 * Envelopes of rows that were read lately: the index, turns, and steps of all readers parse a row once. Whoever gets one may read the
 * row, and leaves the envelope as it is.
 */
export class ParsedRows {
  readonly #space: LoggedRows
  #kept = new Bounded<Parsed>(maxBytes, ({ bytes }) => bytes)
  #oldest = 1

  constructor(space: LoggedRows) {
    this.#space = space
  }

  /** Throws a `LogError` of code `corrupt` where the row is damaged. */
  get(row: Entry): Envelope {
    const { seq, body } = row
    // Nothing is left of an erased row, and nothing may be kept of it until it is emptied.
    if (body.length === 0 || body.length > maxBytes * maxPart || this.#space.wasErased(seq))
      return parseEnvelope(row)
    if (this.#space.log.oldest !== this.#oldest) this.clear()
    const key = String(seq)
    const known = this.#kept.get(key)
    if (known !== undefined) return known.envelope
    const envelope = parseEnvelope(row)
    this.#kept.set(key, { envelope, bytes: body.length })
    return envelope
  }

  /** Drops all of it. */
  clear(): void {
    this.#oldest = this.#space.log.oldest
    this.#kept = new Bounded(maxBytes, ({ bytes }) => bytes)
  }
}
