import { type Fields, fieldsOf, LogError, leafOf, link, type Row, rowOf } from '@meup/gateway'

/** What one message of a stream says of itself. */
export interface BatchHead {
  /** Names the log that it belongs to. */
  readonly epoch: string
  /** Made at random for this batch: whoever wrote it knows it by that. */
  readonly nonce: string
  /** Seq of its first row; where it has none, of the first that is to come. */
  readonly first: number
  readonly count: number
  /** Hash of the row before its first one, and of its last; hexadecimal. */
  readonly previous: string
  readonly hash: string
}

interface Head extends BatchHead {
  readonly v: 1
  readonly rows: readonly Fields[]
  /** Lengths of the bodies. */
  readonly sizes: readonly number[]
}

const [lengthBytes, saltBytes, digestBytes] = [4, 16, 32]

/** Bytes of a row in a message, at most. */
export const sizeOf = (row: Row): number =>
  JSON.stringify(fieldsOf(row)).length * 2 + row.body.length + saltBytes + digestBytes + 16

/** Rows as one message: a length, a head as JSON, then body, salt and digest of each. Leaf and hash follow from them. */
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
    rows: rows.map(fieldsOf),
    sizes: rows.map(({ body }) => body.length),
  }
  const text = Buffer.from(JSON.stringify(head))
  const length = Buffer.allocUnsafe(lengthBytes)
  length.writeUInt32BE(text.length)
  return Buffer.concat([length, text, ...rows.flatMap(({ body, salt, digest }) => [body, salt, digest])])
}

/** Last seq of a batch; of one without rows, what its first would follow. */
export const lastOf = ({ first, count }: BatchHead): number => first + count - 1

/** `place` names the message to the operator. Throws a `LogError` of code `corrupt` where it is none of ours. */
export function decodeHead(data: Uint8Array, place: string): BatchHead {
  return parse(data, place).head
}

/** The rows, with what their chain makes of them. Throws as `decodeHead` does, also where they are not what was chained. */
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
    const [body, salt, digest] = [cut(head.sizes[i] ?? 0), cut(saltBytes), cut(digestBytes)]
    const leaf = leafOf(salt, body)
    hash = link(hash, fields[0], leaf)
    return rowOf(absent(fields), body, { salt, leaf, hash, digest })
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

/** JSON makes `null` of what is absent. */
const absent = (fields: Fields): Fields => fields.map((field) => field ?? undefined) as unknown as Fields

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

function foreign(place: string, cause?: unknown): LogError {
  const advice = 'Somebody else wrote to it, or it was damaged. Remove what is foreign from the stream.'
  return new LogError('corrupt', `${place} is no batch of a log. ${advice}`, { cause })
}
