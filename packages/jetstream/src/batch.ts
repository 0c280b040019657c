import { createRow, type Fields, hashLeaf, isErased, LogError, link, type Row, toFields } from '@meup/gateway'
import { streamTexts } from './errors.js'

/** The head of one message of a stream. The message contains a batch of rows. */
export interface BatchHead {
  /** Epoch of the log that the batch belongs to. */
  readonly epoch: string
  /** Random, so that the writer recognizes its batch after a write with unknown outcome. */
  readonly nonce: string
  /** Seq of the batch's first row; of an empty batch, the next seq. */
  readonly first: number
  readonly count: number
  /** Hash of the row before the batch, and hash of its last row; hexadecimal. */
  readonly previous: string
  readonly hash: string
}

interface Head extends BatchHead {
  readonly v: 1
  readonly rows: readonly Fields[]
  /** Lengths of the bodies; -1 = an erased row, of which only the leaf, the hash of its former content, is left. */
  readonly sizes: readonly number[]
}

const [lengthBytes, saltBytes, digestBytes, leafBytes] = [4, 16, 32, 32]

const nothing = Buffer.alloc(0)

/** Upper bound of the bytes of a row in a message. */
export const estimateBytes = (row: Row): number =>
  JSON.stringify(toFields(row)).length * 2 + row.body.length + saltBytes + digestBytes + 16

/**
 * Encodes rows as one message: a length, the head as JSON, then body, salt and digest of each row. Leaf and hash are derived,
 * except the leaf of an erased row.
 */
export function encodeBatch(
  named: Pick<BatchHead, 'epoch' | 'nonce' | 'first'>,
  rows: readonly Row[],
  previous: Uint8Array,
): Buffer {
  const head: Head = {
    v: 1,
    ...named,
    count: rows.length,
    previous: hex(previous),
    hash: hex(rows.at(-1)?.hash ?? previous),
    rows: rows.map(toFields),
    sizes: rows.map((row) => (isErased(row) ? -1 : row.body.length)),
  }
  const text = Buffer.from(JSON.stringify(head))
  const length = Buffer.allocUnsafe(lengthBytes)
  length.writeUInt32BE(text.length)
  const parts = rows.flatMap((row) => (isErased(row) ? [row.leaf] : [row.body, row.salt, row.digest]))
  return Buffer.concat([length, text, ...parts])
}

/** Last seq of a batch; of an empty one, the seq before `first`. */
export const getLastSeq = ({ first, count }: BatchHead): number => first + count - 1

/** `place` names the message in errors. Throws a `LogError` with code `corrupt` for an invalid batch. */
export function decodeHead(data: Uint8Array, place: string): BatchHead {
  return parse(data, place).head
}

/** The rows with recomputed leaf and hash. Throws like `decodeHead`, and if the hash differs from the head's. */
export function decodeRows(data: Uint8Array, place: string): Row[] {
  const { head, end } = parse(data, place)
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  let at = end
  const cut = (length: number): Buffer => {
    at += length
    return bytes.subarray(at - length, at)
  }
  let hash: Uint8Array = Buffer.from(head.previous, 'hex')
  const rows = head.rows.map((fields, i) => {
    const size = head.sizes[i] ?? 0
    const [body, salt, digest] =
      size < 0 ? [nothing, nothing, nothing] : [cut(size), cut(saltBytes), cut(digestBytes)]
    const leaf = size < 0 ? cut(leafBytes) : hashLeaf(salt, body)
    hash = link(hash, fields[0], leaf)
    return createRow(absent(fields), body, { salt, leaf, hash, digest })
  })
  if (at !== bytes.length || hex(hash) !== head.hash) throw foreign(place)
  return rows
}

function parse(data: Uint8Array, place: string): { head: Head; end: number } {
  try {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    const end = lengthBytes + bytes.readUInt32BE()
    const head = JSON.parse(bytes.subarray(lengthBytes, end).toString()) as Head
    const { rows, sizes, count, first } = head
    const isWhole = head.v === 1 && rows.length === count && sizes.length === count
    if (!isWhole || !rows.every(([seq], i) => seq === first + i)) throw foreign(place)
    return { head, end }
  } catch (error) {
    if (error instanceof LogError) throw error
    throw foreign(place, error)
  }
}

/** Restores absent fields, which JSON has turned into `null`. */
const absent = (fields: Fields): Fields => fields.map((field) => field ?? undefined) as unknown as Fields

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const foreign = (message: string, cause?: unknown): LogError =>
  new LogError('corrupt', streamTexts.foreignMessage, { message }, { cause })
