import { createRow, type Fields, isErased, toFields } from '../../log/entries.js'
import type { DraftEntry, Row } from '../../ports/envelope-log.js'
import { type Storable, toJsonColumn } from './rows.js'

/** Rows for another thread: all blobs in one transferable buffer, and the rest as tuples, which are cheapest to clone. */
export interface Packed {
  readonly rows: readonly Fields[]
  /** Lengths of the bodies, in the order of `bytes`; -1 = an erased row, of which only leaf and hash are left. */
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
    rows.push(toFields(row))
    const isBlank = isErased(row)
    sizes.push(isBlank ? -1 : row.body.length)
    blobs.push(sized(row.leaf, HASH_BYTES), sized(row.hash, HASH_BYTES))
    if (!isBlank) blobs.push(row.body, sized(row.salt, SALT_BYTES), sized(row.digest, HASH_BYTES))
  }
  return { rows, sizes, bytes: join(blobs) }
}

const nothing = new Uint8Array(0)
const unsealed = { salt: nothing, leaf: nothing, hash: nothing, digest: nothing }

/** Packs rows without blobs. */
export const packHeadings = (rows: readonly Fields[]): Packed => ({
  rows,
  sizes: [],
  bytes: new Uint8Array(0),
})

/**
 * A blob with a wrong length comes from a damaged file. It is replaced by zeros, so that the following rows keep their offsets
 * and nothing matches it.
 */
const sized = (blob: Uint8Array, length: number): Uint8Array =>
  blob.length === length ? blob : new Uint8Array(length)

export function unpackPage({ rows, sizes, bytes }: Packed): Row[] {
  if (sizes.length === 0) return rows.map((fields) => createRow(fields, nothing, unsealed))
  const cut = cutter(bytes)
  return rows.map((fields, i) => {
    const [leaf, hash, size = 0] = [cut(HASH_BYTES), cut(HASH_BYTES), sizes[i]]
    if (size < 0) return createRow(fields, nothing, { ...unsealed, leaf, hash })
    const [body, salt, digest] = [cut(size), cut(SALT_BYTES), cut(HASH_BYTES)]
    return createRow(fields, body, { salt, leaf, hash, digest })
  })
}

/** `Buffer.concat` may use Node's shared pool, which cannot be transferred. */
function join(blobs: readonly Uint8Array[]): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafeSlow(blobs.reduce((sum, blob) => sum + blob.length, 0))
  let end = 0
  for (const blob of blobs) {
    bytes.set(blob, end)
    end += blob.length
  }
  return bytes
}

/** Returns a function that returns views of the next bytes, without copying. */
function cutter(bytes: Uint8Array<ArrayBuffer>): (length: number) => Buffer {
  let end = 0
  return (length) => {
    const start = end
    end += length
    return Buffer.from(bytes.buffer, bytes.byteOffset + start, length)
  }
}

/**
 * A batch for the writer thread: one string with all texts, one buffer with all bytes, and their offsets. Cloning costs next to
 * nothing for any number of rows; both buffers are transferred.
 */
export interface PackedBatch {
  readonly text: string
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Per row: seq, the lengths of its texts (-1 = absent), of its body, and of its content. */
  readonly cuts: Float64Array<ArrayBuffer>
}

/** Numbers per row: seq, and the lengths of seven texts, the body and the content. */
const cutsOfRow = 10

export const rowsIn = ({ cuts }: PackedBatch): number => cuts.length / cutsOfRow

export function packBatch(batch: readonly DraftEntry[]): PackedBatch {
  const cuts = new Float64Array(batch.length * cutsOfRow)
  let size = 0
  for (const { body, content } of batch) size += body.length + (isSuffix(body, content) ? 0 : content.length)
  // Not from Node's shared pool of buffers, which cannot be transferred to another thread.
  const bytes = Buffer.allocUnsafeSlow(size)
  let text = ''
  let [at, end] = [0, 0]
  const add = (part: string | null | undefined): void => {
    cuts[at++] = part?.length ?? -1
    if (part !== null && part !== undefined) text += part
  }
  const put = (part: Uint8Array): void => {
    bytes.set(part, end)
    end += part.length
  }
  for (const { seq, id, ts, from, kind, to, context, correlationId, body, content } of batch) {
    cuts[at++] = seq
    add(id)
    add(ts)
    add(from)
    add(kind)
    add(toJsonColumn(to))
    add(context)
    add(toJsonColumn(correlationId))
    cuts[at++] = body.length
    cuts[at++] = content.length * (isSuffix(body, content) ? 1 : -1)
    put(body)
    if (!isSuffix(body, content)) put(content)
  }
  return { text, bytes, cuts }
}

/** The rows of a batch, as views of its bytes. */
export function unpackBatch({ text, bytes, cuts }: PackedBatch): Storable[] {
  const rows: Storable[] = []
  let [at, textEnd, end] = [0, 0, 0]
  const next = (): number => cuts[at++] ?? 0
  const words = (): string | null => {
    const length = next()
    if (length < 0) return null
    textEnd += length
    return text.slice(textEnd - length, textEnd)
  }
  const take = (length: number): Uint8Array => {
    end += length
    return new Uint8Array(bytes.buffer, bytes.byteOffset + end - length, length)
  }
  while (at < cuts.length) {
    const seq = next()
    const [id, ts, from, kind] = [words() ?? '', words() ?? '', words() ?? '', words() ?? '']
    const [to, context, correlationId] = [words(), words(), words()]
    const [body, length] = [take(next()), next()]
    const content = length < 0 ? take(-length) : body.subarray(body.length - length)
    rows.push({ seq, id, ts, from, kind, to, context, correlationId, body, content })
  }
  return rows
}

/** Whether the content is the end of the body; it then need not be sent twice. */
function isSuffix(body: Uint8Array, content: Uint8Array): boolean {
  const end = content.byteOffset + content.length
  return (
    content.buffer === body.buffer &&
    content.byteOffset >= body.byteOffset &&
    end === body.byteOffset + body.length
  )
}
