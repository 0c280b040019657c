import { type Fields, fieldsOf, rowOf } from '../../log/fields.js'
import type { Row } from '../../ports/envelope-log.js'

/**
 * Rows on their way to another thread: every blob in one buffer, which is handed over without copying, and the rest
 * as tuples, which are the cheapest thing to clone.
 */
export interface Packed {
  readonly rows: readonly Fields[]
  /** Lengths of the blobs that have no fixed one, in the order of `bytes`. */
  readonly sizes: readonly number[]
  readonly bytes: Uint8Array<ArrayBuffer>
}

const SALT_BYTES = 16
const HASH_BYTES = 32

export function packPage(page: readonly Row[]): Packed {
  const rows: Fields[] = []
  const sizes: number[] = []
  const blobs: Uint8Array[] = []
  for (const row of page) {
    rows.push(fieldsOf(row))
    sizes.push(row.body.length)
    blobs.push(row.body, sized(row.salt, SALT_BYTES), sized(row.leaf, HASH_BYTES))
    blobs.push(sized(row.hash, HASH_BYTES), sized(row.digest, HASH_BYTES))
  }
  return { rows, sizes, bytes: join(blobs) }
}

const nothing = new Uint8Array(0)
const unsealed = { salt: nothing, leaf: nothing, hash: nothing, digest: nothing }

/** Rows without what is in blobs. */
export const packHeadings = (rows: readonly Fields[]): Packed => ({
  rows,
  sizes: [],
  bytes: new Uint8Array(0),
})

/** A blob of another length stems from a damaged file. It must not shift the rows behind it, and is none that could match. */
const sized = (blob: Uint8Array, length: number): Uint8Array =>
  blob.length === length ? blob : new Uint8Array(length)

export function unpackPage({ rows, sizes, bytes }: Packed): Row[] {
  if (sizes.length === 0) return rows.map((fields) => rowOf(fields, nothing, unsealed))
  const cut = cutter(bytes)
  return rows.map((fields, i) => {
    const body = cut(sizes[i] ?? 0)
    const [salt, leaf, hash, digest] = [cut(SALT_BYTES), cut(HASH_BYTES), cut(HASH_BYTES), cut(HASH_BYTES)]
    return rowOf(fields, body, { salt, leaf, hash, digest })
  })
}

/** Not `Buffer.concat`: that may take from Node's shared pool, which cannot be handed over. */
function join(blobs: readonly Uint8Array[]): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafeSlow(blobs.reduce((sum, blob) => sum + blob.length, 0))
  let end = 0
  for (const blob of blobs) {
    bytes.set(blob, end)
    end += blob.length
  }
  return bytes
}

/** Gives the next so many bytes at each call: a view, not a copy. */
function cutter(bytes: Uint8Array<ArrayBuffer>): (length: number) => Buffer {
  let end = 0
  return (length) => {
    const start = end
    end += length
    return Buffer.from(bytes.buffer, bytes.byteOffset + start, length)
  }
}
