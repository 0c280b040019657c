import { hash, randomBytes } from 'node:crypto'
import type { Draft, EnvelopeLog, Row, Snapshot } from '../ports/envelope-log.js'

/** The part of a row that makes it a link of the hash chain [MEUP-10.1]. */
export type Seal = Pick<Row, 'salt' | 'leaf' | 'hash' | 'digest'>

const SALT_BYTES = 16
const SALTS_PER_POOL = 256

/** hash₀, what the first row links to: SHA-256 of the epoch's UTF-8 bytes. */
export function genesis(epoch: string): Buffer {
  return sha256(Buffer.from(epoch))
}

/** What the first row that is kept links to: the last one that was pruned, or the epoch. */
export const beginningOf = ({
  epoch,
  snapshot,
}: Pick<EnvelopeLog, 'epoch' | 'snapshot'>): Pick<Snapshot, 'through' | 'hash'> =>
  snapshot ?? { through: 0, hash: genesis(epoch) }

/** SHA-256(salt ‖ body). The salt keeps a leaf from giving a short body away to those who may not read it. */
export function leafOf(salt: Uint8Array, body: Uint8Array): Buffer {
  return sha256(salt, body)
}

/** SHA-256(salt ‖ content), by which a retry is recognised as the same submission. */
export function digestOf(salt: Uint8Array, content: Uint8Array): Buffer {
  return sha256(salt, content)
}

/** The hash of row `seq`: SHA-256(previous hash ‖ seq as 8 bytes big-endian ‖ leaf). */
export function link(previousHash: Uint8Array, seq: number, leaf: Uint8Array): Buffer {
  const position = Buffer.allocUnsafe(8)
  position.writeBigUInt64BE(BigInt(seq))
  return sha256(previousHash, position, leaf)
}

/** Gives a fresh 16-byte salt at each call, drawn from a larger pool: one system call serves many rows. */
function saltPool(): () => Buffer {
  let pool = Buffer.alloc(0)
  return () => {
    if (pool.length === 0) pool = randomBytes(SALT_BYTES * SALTS_PER_POOL)
    const salt = pool.subarray(0, SALT_BYTES)
    pool = pool.subarray(SALT_BYTES)
    return salt
  }
}

const nextSalt = saltPool()

/** Salts a draft, afresh unless a salt is given, and links it to the row before it. */
export function seal(
  draft: Pick<Draft, 'seq' | 'body' | 'content'>,
  previousHash: Uint8Array,
  salt: Uint8Array = nextSalt(),
): Seal {
  const leaf = leafOf(salt, draft.body)
  const digest = digestOf(salt, draft.content)
  return { salt, leaf, hash: link(previousHash, draft.seq, leaf), digest }
}

/** By way of hex, since the `buffer` output of Node costs twice as much. */
function sha256(...parts: Uint8Array[]): Buffer {
  return Buffer.from(hash('sha256', Buffer.concat(parts), 'hex'), 'hex')
}
