import { type Erasure, findErasure } from '@meup/protocol/erasure'
import type { Row, Snapshot } from '../ports/envelope-log.js'
import { hashLeaf, link } from './chain.js'
import { isErased } from './entries.js'

/** Columns that a row keeps besides its body. */
const columns = ['id', 'ts', 'from', 'kind', 'to', 'context', 'correlationId'] as const
export type Column = (typeof columns)[number]

/** Maximum number of erasure records in a result. */
const maxErasures = 1000

/** Recomputes the hash chain of a log, row by row [MEUP-10.1]. */
export class ChainVerifier {
  /** Seq and hash of the last valid row. */
  last: number
  hash: Uint8Array
  /** The column of the invalid row that differs from its body. */
  column: Column | undefined
  /** Erasures, by the records that were read. */
  readonly erasures: Erasure[] = []
  /** Erased rows whose erasure record has not been read yet: their seqs, with the hash before each. */
  readonly #unrecorded = new Map<number, Uint8Array>()

  constructor({ through, hash }: Pick<Snapshot, 'through' | 'hash'>) {
    this.last = through
    this.hash = hash
  }

  /** Adds the next row. Returns whether it is valid; if not, stop adding rows. */
  add(row: Row): boolean {
    const isBlank = isErased(row)
    const leaf = isBlank ? row.leaf : hashLeaf(row.salt, row.body)
    const expected = link(this.hash, row.seq, leaf)
    if (Buffer.compare(leaf, row.leaf) !== 0 || !expected.equals(row.hash)) return false
    if (isBlank) this.#unrecorded.set(row.seq, this.hash)
    else {
      const body = Buffer.from(row.body).toString()
      this.column = findWrongColumn(row, body)
      if (this.column !== undefined) return false
      this.note(findErasure(body))
    }
    ;[this.last, this.hash] = [row.seq, expected]
    return true
  }

  /** Adds a record of an erasure, which may follow later than the row. */
  note(erasure: Erasure | undefined): void {
    if (erasure === undefined) return
    this.#unrecorded.delete(erasure.seq)
    this.erasures.push(erasure)
    if (this.erasures.length > maxErasures) this.erasures.shift()
  }

  /** The first row without a body for which no erasure record was read, and the hash before it. */
  get unrecorded(): { readonly seq: number; readonly hash: Uint8Array } | undefined {
    for (const [seq, hash] of this.#unrecorded) return { seq, hash }
    return undefined
  }
}

function findWrongColumn(row: Row, body: string): Column | undefined {
  const envelope = JSON.parse(body) as Partial<Record<Column, unknown>>
  return columns.find((column) => JSON.stringify(row[column]) !== JSON.stringify(envelope[column]))
}
