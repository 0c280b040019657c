import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Kind } from '@meup/protocol'
import type { LogErrorCode } from '../log/error.js'
import type { Draft, EnvelopeLog, LogStore, Row } from '../ports/envelope-log.js'

/** An empty store under test. */
export interface StoreUnderTest {
  readonly store: LogStore
  /** Closes the store and opens another on what it has stored, as a restart does. */
  reopen(): Promise<LogStore>
  /** Closes whatever is open and removes what was stored. */
  dispose(): Promise<void>
}

/** Declares a test of the log of the space `main`, empty and of its own. */
export type WithLog = (
  title: string,
  body: (log: EnvelopeLog, opened: StoreUnderTest) => Promise<void>,
) => unknown

/** A plausible draft: its id is `e<seq>` unless `fields` says otherwise. */
export function draft(seq: number, fields: Partial<Draft> = {}): Draft {
  const id = fields.id ?? `e${seq}`
  const body = bytes(`"id":"${id}","kind":"chat","payload":{"message":"number ${seq}"}}`)
  const content = bytes(`{"id":"${id}","kind":"chat","payload":{"message":"number ${seq}"}}`)
  return { seq, id, ts: '2026-05-04T03:02:01.000Z', from: 'ada', kind: Kind.chat, body, content, ...fields }
}

/** Drafts `from` … `to`, both included. */
export function drafts(from: number, to: number): Draft[] {
  return Array.from({ length: to - from + 1 }, (_, i) => draft(from + i))
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export async function all(log: EnvelopeLog): Promise<Row[]> {
  return log.read({ limit: 10_000 })
}

export async function seqs(rows: Promise<readonly Row[]>): Promise<number[]> {
  return (await rows).map((row) => row.seq)
}

/** Asserts that the row is what was drafted, to the byte, and that an absent field is absent. */
export function assertHolds(row: Row | undefined, { content, ...entry }: Draft): void {
  assert.ok(row, `row ${entry.seq} is missing`)
  const { salt, leaf, hash, digest, ...kept } = row
  assert.deepEqual({ ...kept, body: hex(kept.body) }, { ...entry, body: hex(entry.body) })
  assert.equal(hex(leaf), hex(sha256(salt, entry.body)), 'leaf = SHA-256(salt ‖ body)')
  assert.equal(hex(digest), hex(sha256(salt, content)), 'digest = SHA-256(salt ‖ content)')
  assert.equal(salt.length, 16)
  assert.equal(hash.length, 32)
}

/**
 * Asserts that the rows are the whole log and that their hashes are its chain [MEUP-10.1], from its epoch on or, where
 * it has been pruned, from its snapshot on.
 */
export function assertChained({ epoch, snapshot }: EnvelopeLog, rows: readonly Row[]): void {
  const { through, hash } = snapshot ?? { through: 0, hash: sha256(bytes(epoch)) }
  let previous = hash
  rows.forEach((row, i) => {
    assert.equal(row.seq, through + i + 1)
    const position = new DataView(new ArrayBuffer(8))
    position.setBigUint64(0, BigInt(row.seq))
    const expected = sha256(previous, new Uint8Array(position.buffer), sha256(row.salt, row.body))
    assert.equal(hex(row.hash), hex(expected), `the hash of row ${row.seq}`)
    previous = expected
  })
}

export function assertRefused(promise: Promise<unknown>, code: LogErrorCode): Promise<void> {
  return assert.rejects(promise, { name: 'LogError', code })
}

/** Of its own, not the gateway's: the suite is there to find out whether that is right. */
function sha256(...parts: Uint8Array[]): Uint8Array {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
