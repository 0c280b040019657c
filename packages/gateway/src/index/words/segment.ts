import { tokenBits } from './tokens.js'

/**
 * A segment of the word index: `segmentRows` rows in blocks of `blockRows`. It stores, per token and class of readers, the
 * blocks that contain the token, so that a search reads those rows only. A block number is one byte; a token has at most 32
 * blocks.
 */
export const blockRows = 4
const blocks = 256
export const segmentRows = blockRows * blocks

export const segmentOf = (seq: number): number => Math.floor((seq - 1) / segmentRows)
export const segmentStart = (segment: number): number => segment * segmentRows + 1
const blockOf = (seq: number): number => Math.floor(((seq - 1) % segmentRows) / blockRows)

/** A set of blocks, one bit each. */
export type BlockSet = Uint8Array
const setBytes = blocks / 8
export const noBlocks = (): BlockSet => new Uint8Array(setBytes)
export const addBlock = (set: BlockSet, seq: number): void => setBit(set, blockOf(seq))

function setBit(set: BlockSet, block: number): void {
  set[block >> 3] = (set[block >> 3] ?? 0) | (1 << (block & 7))
}

/** Intersects `set` with another set, in place. */
export function intersect(set: BlockSet, other: BlockSet): void {
  for (let at = 0; at < setBytes; at++) set[at] = (set[at] ?? 0) & (other[at] ?? 0)
}

export function unite(set: BlockSet, other: BlockSet): void {
  for (let at = 0; at < setBytes; at++) set[at] = (set[at] ?? 0) | (other[at] ?? 0)
}

/** Seqs of the rows in these blocks, ascending. */
export function listRows(segment: number, set: BlockSet): number[] {
  const seqs: number[] = []
  for (let block = 0; block < blocks; block++) {
    if (((set[block >> 3] ?? 0) & (1 << (block & 7))) === 0) continue
    const first = segmentStart(segment) + block * blockRows
    for (let seq = first; seq < first + blockRows; seq++) seqs.push(seq)
  }
  return seqs
}

/** Collects tokens of rows in log order. */
export class Postings {
  /** Numbers of blocks by class of readers (rows with the same audience), then by token. */
  readonly #classes = new Map<number, Map<number, number[]>>()

  /** `readers`: the class of readers of the row. */
  add(seq: number, readers: number, tokens: Iterable<number>): void {
    const block = blockOf(seq)
    const lists = this.#classes.get(readers) ?? new Map<number, number[]>()
    this.#classes.set(readers, lists)
    for (const token of tokens) {
      const list = lists.get(token)
      if (list === undefined) lists.set(token, [block])
      else if (list[list.length - 1] !== block) list.push(block)
    }
  }

  /** The encoded buckets; their number is a power of two. */
  encode(): Uint8Array[] {
    const entries: Entry[] = []
    for (const [readers, lists] of this.#classes)
      for (const [token, blocks] of lists) entries.push({ token, readers, blocks })
    entries.sort((one, other) => one.token - other.token || one.readers - other.readers)
    const bits = Math.min(maxBits, Math.ceil(Math.log2(Math.max(1, entries.length / entriesPerBucket))))
    const parts = Array.from({ length: 2 ** bits }, (): Uint8Array[] => [])
    for (const entry of entries) parts[bucketOf(entry.token, bits)]?.push(encodeEntry(entry))
    return parts.map((each) => Buffer.concat(each))
  }
}

interface Entry {
  readonly token: number
  readonly readers: number
  readonly blocks: readonly number[]
}

const entriesPerBucket = 32
/** Maximum bits of a bucket number. */
export const maxBits = 12

/** The bucket of a token: its first bits. */
export const bucketOf = (token: number, bits: number): number =>
  bits === 0 ? 0 : token >>> (tokenBits - bits)

/** Four bytes of the token, two of the class, the number of blocks, then the blocks, or a bit set if there are many. */
function encodeEntry({ token, readers, blocks: list }: Entry): Uint8Array {
  const isSet = list.length > setBytes
  const bytes = new Uint8Array(headBytes + (isSet ? setBytes : list.length))
  const view = new DataView(bytes.buffer)
  view.setUint32(0, token)
  view.setUint16(4, readers)
  bytes[6] = isSet ? 0 : list.length
  if (!isSet) bytes.set(list, headBytes)
  else for (const block of list) setBit(bytes.subarray(headBytes), block)
  return bytes
}

const headBytes = 7

/** The blocks for a token in rows that these readers may read. */
export function findBlocks(
  bucket: Uint8Array,
  token: number,
  mayRead: (readers: number) => boolean,
): BlockSet {
  const view = new DataView(bucket.buffer, bucket.byteOffset, bucket.byteLength)
  const set = noBlocks()
  for (let at = 0; at < bucket.length; ) {
    const found = view.getUint32(at)
    if (found > token) break
    const count = bucket[at + 6] ?? 0
    const end = at + headBytes + (count === 0 ? setBytes : count)
    if (found === token && mayRead(view.getUint16(at + 4))) {
      const bytes = bucket.subarray(at + headBytes, end)
      if (count === 0) unite(set, bytes)
      else for (const block of bytes) setBit(set, block)
    }
    at = end
  }
  return set
}
