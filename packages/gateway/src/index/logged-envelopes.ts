import type { CauseHeading, ReadableLog } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import type { LogReader } from '../core/delivery/log-reads.js'
import { mayRead, type Reader } from '../core/may-read.js'
import type { Space } from '../core/space.js'
import { parseEnvelope } from '../log/entries.js'
import type { Heading as LoggedHeading } from '../ports/envelope-log.js'

type Read = Pick<Space, 'log' | 'reads' | 'delivered' | 'decideAudience'>

/** The part of the delivered log that one reader may read, as the source for explaining an envelope. */
export class LoggedEnvelopes implements ReadableLog<Promise<readonly CauseHeading[]>> {
  readonly #space: Read
  readonly #reader: Reader & LogReader
  readonly #onBody: (bytes: number) => void

  /** `onBody`: called with the size of each body that is read. */
  constructor(space: Read, reader: Reader & LogReader, onBody: (bytes: number) => void = () => {}) {
    this.#space = space
    this.#reader = reader
    this.#onBody = onBody
  }

  get isWhole(): boolean {
    return this.#space.log.oldest === 1
  }

  heading(id: string): LoggedHeading | undefined {
    const { log, delivered } = this.#space
    const heading = log.heading(id)
    if (heading === undefined || heading.seq > delivered) return undefined
    return mayRead(this.#reader, this.#space.decideAudience(heading)) ? heading : undefined
  }

  get(id: string): Envelope | undefined {
    const row = this.heading(id) && this.#space.log.find(id)
    if (row === undefined) return undefined
    this.#onBody(row.body.length)
    return parseEnvelope(row)
  }

  async before(seq: number): Promise<readonly CauseHeading[]> {
    const query = { after: 0, before: Math.min(seq, this.#space.delivered + 1), order: 'desc' } as const
    for await (const headings of this.#space.reads.headings(this.#reader, query)) return headings
    return []
  }
}
