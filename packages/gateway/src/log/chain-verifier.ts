import { type Erasure, findErasure } from '@meup/protocol/erasure'
import type { Row, Snapshot } from '../ports/envelope-log.js'
import { hashLeaf, link } from './chain.js'
import { isErased } from './entries.js'

/** What a log keeps of an envelope beside its body. */
const columns = ['id', 'ts', 'from', 'kind', 'to', 'context', 'correlationId'] as const
export type Column = (typeof columns)[number]

/** Records of erasures that are told, the latest. */
const maxErasures = 1000

/** Computes the chain of a log anew, row by row [MEUP-10.1]. */
export class ChainVerifier {
  /** Seq and hash of the last row that holds. */
  last: number
  hash: Uint8Array
  /** Of the row that does not hold, what is kept beside its body and is not what the body says. */
  column: Column | undefined
  /** What was erased, by the records that were read. */
  readonly erasures: Erasure[] = []
  /** Rows without a body whose records are still to come, with the hash before each. */
  readonly #unrecorded = new Map<number, Uint8Array>()

  constructor({ through, hash }: Pick<Snapshot, 'through' | 'hash'>) {
    this.last = through
    this.hash = hash
  }

  /** Takes the next row. Whether it holds; then nothing more is to be added. */
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

  /** Takes a record, which may come later than the rows. */
  note(erasure: Erasure | undefined): void {
    if (erasure === undefined) return
    this.#unrecorded.delete(erasure.seq)
    this.erasures.push(erasure)
    if (this.erasures.length > maxErasures) this.erasures.shift()
  }

  /** The first row whose body is gone without a record, and the hash before it. */
  get unrecorded(): { readonly seq: number; readonly hash: Uint8Array } | undefined {
    for (const [seq, hash] of this.#unrecorded) return { seq, hash }
    return undefined
  }
}

function findWrongColumn(row: Row, body: string): Column | undefined {
  const envelope = JSON.parse(body) as Partial<Record<Column, unknown>>
  return columns.find((column) => JSON.stringify(row[column]) !== JSON.stringify(envelope[column]))
}
