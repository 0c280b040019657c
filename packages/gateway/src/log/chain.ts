import { hash, randomBytes } from 'node:crypto'
import type { DraftEntry, EnvelopeLog, Row, Snapshot } from '../ports/envelope-log.js'

/** The part of a row that makes it a link of the hash chain [MEUP-10.1]. */
export type Seal = Pick<Row, 'salt' | 'leaf' | 'hash' | 'digest'>

const SALT_BYTES = 16
const HASH_BYTES = 32
const SALTS_PER_POOL = 256

/** hash₀, what the first row links to: SHA-256 of the epoch's UTF-8 bytes. */
export function genesis(epoch: string): Buffer {
  return sha256(Buffer.from(epoch))
}

/** The hash to which the first kept row links: that of the last pruned row, or of the epoch. */
export const getChainStart = ({
  epoch,
  snapshot,
}: Pick<EnvelopeLog, 'epoch' | 'snapshot'>): Pick<Snapshot, 'through' | 'hash'> =>
  snapshot ?? { through: 0, hash: genesis(epoch) }

/** SHA-256(salt ‖ body). The salt prevents guessing a short body from its leaf. */
export const hashLeaf = (salt: Uint8Array, body: Uint8Array): Buffer => salted(salt, body)

/** SHA-256(salt ‖ content), by which a retry is recognised as the same submission. */
export const hashContent = (salt: Uint8Array, content: Uint8Array): Buffer => salted(salt, content)

/** The hash of row `seq`: SHA-256(previous hash ‖ seq as 8 bytes big-endian ‖ leaf). */
export function link(previousHash: Uint8Array, seq: number, leaf: Uint8Array): Buffer {
  const hash = Buffer.allocUnsafe(HASH_BYTES)
  putLink(previousHash, seq, leaf, hash)
  return hash
}

/** Returns a function that returns a new 16-byte salt per call, from a larger pool, since one system call serves many rows. */
function saltPool(): () => Uint8Array {
  let pool = Buffer.alloc(0)
  let end = 0
  return () => {
    if (end === pool.length) {
      pool = randomBytes(SALT_BYTES * SALTS_PER_POOL)
      end = 0
    }
    end += SALT_BYTES
    return new Uint8Array(pool.buffer, pool.byteOffset + end - SALT_BYTES, SALT_BYTES)
  }
}

const nextSalt = saltPool()

/** Buffers to write the hashes of a seal to. */
type Hashes = Readonly<Record<'leaf' | 'hash' | 'digest', Buffer>>

export function roomForHashes(): Hashes {
  const bytes = Buffer.allocUnsafe(3 * HASH_BYTES)
  const cut = (index: number) => bytes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES)
  return { leaf: cut(0), hash: cut(1), digest: cut(2) }
}

/**
 * Salts a draft, with a new salt unless one is given, and links it to the previous row. Writes the hashes to the buffers of the
 * last argument: a caller that does not keep the seal can pass the same buffers for all rows.
 */
export function sealDraft(
  { seq, body, content }: Pick<DraftEntry, 'seq' | 'body' | 'content'>,
  previousHash: Uint8Array,
  salt: Uint8Array = nextSalt(),
  { leaf, hash, digest } = roomForHashes(),
): Seal {
  const end = salt.length + body.length
  const all = reserve(end)
  all.set(salt)
  all.set(body, salt.length)
  putSha256(new Uint8Array(all.buffer, 0, end), leaf)
  const before = bytesBefore(content, body)
  if (before === undefined) hashContent(salt, content).copy(digest)
  else {
    // Overwrites the bytes before the content with the salt: copying the content again would cost as much as hashing it.
    all.set(salt, before)
    putSha256(new Uint8Array(all.buffer, before, end - before), digest)
  }
  putLink(previousHash, seq, leaf, hash)
  return { salt, leaf, hash, digest }
}

/** Length of the body before the content, if the content is the end of the body. */
export function bytesBefore(content: Uint8Array, body: Uint8Array): number | undefined {
  const before = content.byteOffset - body.byteOffset
  const isRest = content.buffer === body.buffer && before >= 0 && before + content.length === body.length
  return isRest ? before : undefined
}

/** Buffer for hash input; reused by every call. */
let scratch = Buffer.allocUnsafeSlow(8192)

function reserve(length: number): Buffer {
  if (scratch.length < length) scratch = Buffer.allocUnsafeSlow(2 * length)
  return scratch
}

function salted(salt: Uint8Array, bytes: Uint8Array): Buffer {
  const length = salt.length + bytes.length
  const all = reserve(length)
  all.set(salt)
  all.set(bytes, salt.length)
  const hash = Buffer.allocUnsafe(HASH_BYTES)
  putSha256(new Uint8Array(all.buffer, 0, length), hash)
  return hash
}

const placed = Buffer.allocUnsafeSlow(HASH_BYTES + 8 + HASH_BYTES)

function putLink(previousHash: Uint8Array, seq: number, leaf: Uint8Array, into: Buffer): void {
  // Hashes of a damaged file may have other lengths, which match nothing.
  const isWhole = previousHash.length === HASH_BYTES && leaf.length === HASH_BYTES
  const linked = isWhole ? placed : Buffer.alloc(previousHash.length + 8 + leaf.length)
  linked.set(previousHash)
  linked.writeUInt32BE(Math.floor(seq / 2 ** 32), previousHash.length)
  linked.writeUInt32BE(seq % 2 ** 32, previousHash.length + 4)
  linked.set(leaf, previousHash.length + 8)
  putSha256(linked, into)
}

/** Hashes to a string, because Node's `buffer` output takes twice as long. */
function putSha256(bytes: Uint8Array, into: Buffer): void {
  into.write(hash('sha256', bytes, 'binary'), 'latin1')
}

function sha256(bytes: Uint8Array): Buffer {
  return Buffer.from(hash('sha256', bytes, 'binary'), 'latin1')
}
