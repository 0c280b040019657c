import { Bounded } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { parseEnvelope } from '../log/entries.js'
import type { Entry, EnvelopeLog } from '../ports/envelope-log.js'

/** Maximum bytes of the bodies whose envelopes are cached. The parsed envelopes take about three times that memory. */
const maxBytes = 1024 * 1024
/** Maximum share of the cache for one envelope. */
const maxPart = 1 / 8

interface Parsed {
  readonly envelope: Envelope
  readonly bytes: number
}

/** The part of a space that the cache uses. */
interface LoggedRows {
  readonly log: Pick<EnvelopeLog, 'oldest'>
  wasErased(seq: number): boolean
}

/**
 * Caches parsed envelopes, so that the index, turns and steps parse a row once for all readers. Callers must be allowed to read
 * the row and must not change the envelope.
 */
export class ParsedRows {
  readonly #space: LoggedRows
  #kept = new Bounded<Parsed>(maxBytes, ({ bytes }) => bytes)
  #oldest = 1

  constructor(space: LoggedRows) {
    this.#space = space
  }

  /** Throws a `LogError` with code `corrupt` if the row is damaged. */
  get(row: Entry): Envelope {
    const { seq, body } = row
    // An erased row is empty or about to be emptied, and must not be cached.
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

  clear(): void {
    this.#oldest = this.#space.log.oldest
    this.#kept = new Bounded(maxBytes, ({ bytes }) => bytes)
  }
}
