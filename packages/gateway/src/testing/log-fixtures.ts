import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type Envelope, GATEWAY, Kind, PROTOCOL } from '@meup/protocol'
import { toDraft } from '../log/entries.js'
import type { LogErrorCode } from '../log/error.js'
import type { DraftEntry, EnvelopeLog, LogStore, Row } from '../ports/envelope-log.js'

/** An empty store under test. */
export interface StoreUnderTest {
  readonly store: LogStore
  /** Closes the store and opens another one with its content, like a restart. */
  reopen(): Promise<LogStore>
  /** Closes all stores and removes their content. */
  dispose(): Promise<void>
}

/** Declares a test with the empty log of the space `main`. */
export type WithLog = (
  title: string,
  body: (log: EnvelopeLog, opened: StoreUnderTest) => Promise<void>,
) => unknown

/** A plausible draft; its id is `e<seq>` unless `fields` has another one. */
export function draft(seq: number, fields: Partial<DraftEntry> = {}): DraftEntry {
  const id = fields.id ?? `e${seq}`
  const body = bytes(`"id":"${id}","kind":"chat","payload":{"message":"number ${seq}"}}`)
  const content = bytes(`{"id":"${id}","kind":"chat","payload":{"message":"number ${seq}"}}`)
  return { seq, id, ts: '2026-05-04T03:02:01.000Z', from: 'ada', kind: Kind.chat, body, content, ...fields }
}

/** Drafts `from` … `to`, both inclusive. */
export function drafts(from: number, to: number): DraftEntry[] {
  return Array.from({ length: to - from + 1 }, (_, i) => draft(from + i))
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** All rows, with all bytes as one class, because `assert.deepEqual` distinguishes a `Buffer` from a `Uint8Array`. */
export async function all(log: EnvelopeLog): Promise<Row[]> {
  const rows = await log.read({ limit: 10_000 })
  return rows.map(({ body, salt, leaf, hash, digest, ...heading }) => ({
    ...heading,
    ...{ body: plain(body), salt: plain(salt) },
    ...{ leaf: plain(leaf), hash: plain(hash), digest: plain(digest) },
  }))
}

const plain = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes)

export async function seqs(rows: Promise<readonly Row[]>): Promise<number[]> {
  return (await rows).map((row) => row.seq)
}

/** Asserts that the row equals the draft byte by byte, and that absent fields are absent. */
export function assertHolds(row: Row | undefined, { content, ...entry }: DraftEntry): void {
  assert.ok(row, `row ${entry.seq} is missing`)
  const { salt, leaf, hash, digest, ...kept } = row
  assert.deepEqual({ ...kept, body: hex(kept.body) }, { ...entry, body: hex(entry.body) })
  assert.equal(hex(leaf), hex(sha256(salt, entry.body)), 'leaf = SHA-256(salt ‖ body)')
  assert.equal(hex(digest), hex(sha256(salt, content)), 'digest = SHA-256(salt ‖ content)')
  assert.equal(salt.length, 16)
  assert.equal(hash.length, 32)
}

/** Asserts that the rows are the whole log and form its hash chain [MEUP-10.1], from its epoch or, if pruned, from its snapshot. */
export function assertChained({ epoch, snapshot }: EnvelopeLog, rows: readonly Row[]): void {
  const { through, hash } = snapshot ?? { through: 0, hash: sha256(bytes(epoch)) }
  let previous = hash
  rows.forEach((row, i) => {
    assert.equal(row.seq, through + i + 1)
    const position = new DataView(new ArrayBuffer(8))
    position.setBigUint64(0, BigInt(row.seq))
    // An erased row has neither salt nor body: its stored leaf is all that the chain can be computed from.
    const leaf = row.salt.length === 0 ? row.leaf : sha256(row.salt, row.body)
    const expected = sha256(previous, new Uint8Array(position.buffer), leaf)
    assert.equal(hex(row.hash), hex(expected), `the hash of row ${row.seq}`)
    previous = expected
  })
}

export function assertRefused(promise: Promise<unknown>, code: LogErrorCode): Promise<void> {
  return assert.rejects(promise, { name: 'LogError', code })
}

/** Independent of the gateway's hashing, which the suite tests. */
function sha256(...parts: Uint8Array[]): Uint8Array {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

type Fields = Pick<Envelope, 'from' | 'kind'> & Partial<Envelope>

const beginning = Date.UTC(2026, 1, 21)
const agents = ['ana', 'ben', 'cleo']
const texts = [
  'so be it',
  '1. look\n2. tell',
  '[計画] ask [エラー] none',
  'it failed',
  'plan:\n- a',
  '',
  'Bearer abc',
]
const phases = [undefined, undefined, 'plan', 'error', 'waiting_approval']
const calls: readonly string[] = [Kind.mcpRequest, Kind.mcpProposal]
const results = [
  { result: { content: [{ type: 'text', text: 'ok' }] } },
  { result: { content: [{ type: 'text', text: 'not ok' }], isError: true } },
  { error: { code: 1, message: 'no' } },
]

/** A logged envelope, one second after the previous one unless `fields` say otherwise. */
export function createTestDraft(seq: number, fields: Fields): DraftEntry {
  const ts = new Date(beginning + seq * 1000).toISOString()
  const envelope: Envelope = { protocol: PROTOCOL, id: `e${seq}`, ts, payload: {}, ...fields }
  const body = bytes(JSON.stringify(envelope))
  return toDraft(envelope, seq, { body, content: body })
}

/** A random log with all kinds of envelopes, sensible or not; equal for equal seeds. */
export function randomDrafts(seed: number, length: number): DraftEntry[] {
  const dice = new Dice(seed)
  const said: Fields[] = []
  return Array.from({ length }, (_, index) => {
    const fields = { id: `e${index + 1}`, ...connected(dice, anything(dice), said) }
    said.push(fields)
    return createTestDraft(index + 1, fields)
  })
}

/** A random envelope without context. */
function anything(dice: Dice): Fields {
  const [from, addressee] = [dice.pick(agents), dice.pick(agents)]
  const payload = { message: dice.pick(texts), phase: dice.pick(phases) }
  const tool = { name: dice.pick(['search', 'shell']), arguments: { text: dice.pick(texts) } }
  const call = { from, payload: { method: 'tools/call', params: tool } }
  const parallelGroup = dice.below(2)
  return dice.pick<Fields>([
    { kind: Kind.chat, from, payload },
    { kind: Kind.chatCancel, from, payload: { reason: 'enough' } },
    { kind: Kind.reasoningStart, from, payload },
    { kind: Kind.reasoningThought, from, payload },
    { kind: Kind.reasoningThought, from, payload },
    { kind: Kind.reasoningConclusion, from, payload },
    { kind: Kind.mcpRequest, ...call, to: [addressee], parallelGroup },
    { kind: Kind.mcpRequest, ...call, to: [addressee], parallelGroup },
    { kind: Kind.mcpRequest, ...call },
    { kind: Kind.mcpProposal, ...call },
    { kind: Kind.mcpResponse, from, payload: dice.pick(results) },
    { kind: Kind.mcpResponse, from, payload: dice.pick(results) },
    { kind: Kind.mcpResponse, from, payload: dice.pick(results) },
    { kind: Kind.mcpReject, from, payload: { reason: 'unsafe' } },
    {
      kind: Kind.systemDecision,
      from: GATEWAY,
      to: [addressee],
      payload: { ...refusal, attemptedId: dice.pick(ids) },
    },
  ])
}

/** Ids of refused envelopes, which are sent again. */
const ids = ['x1', 'x2', 'x3']
const refusal = {
  decision: 'denied',
  reasonCode: 'forbidden',
  message: 'no',
  attemptedKind: Kind.mcpRequest,
  count: 1,
}

/** Connects an envelope to earlier ones: an answer to a call answers one of the latest. */
function connected(dice: Dice, fields: Fields, said: readonly Fields[]): Fields {
  const recent = said.slice(-10)
  const isAnswer = fields.kind === Kind.mcpResponse || fields.kind === Kind.mcpReject
  const answered = recent.filter(({ kind }) => !isAnswer || calls.includes(kind))
  const starts = recent.filter(({ kind }) => kind === Kind.reasoningStart)
  const before = answered.length > 0 && dice.below(4) > 0 ? dice.pick(answered) : undefined
  const around = starts.length > 0 && dice.below(4) > 0 ? dice.pick(starts) : undefined
  const refused = ids.find((each) => !said.some(({ id }) => id === each))
  const id = fields.kind === Kind.mcpRequest && dice.below(4) === 0 ? refused : undefined
  if (fields.from === GATEWAY) {
    return { ...fields, payload: { ...fields.payload, ...(around?.id && { context: around.id }) } }
  }
  return {
    ...fields,
    ...(before?.id && { correlationId: before.id }),
    ...(around?.id && { context: around.id }),
    ...(id && { id }),
  }
}

/** Pseudo-random numbers, equal for equal seeds. */
class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  below(limit: number): number {
    this.#state = Math.imul(this.#state ^ (this.#state >>> 15), 0x2c1b3c6d) + 0x9e3779b9
    const mixed = Math.imul(this.#state ^ (this.#state >>> 12), 0x297a2d39)
    return ((mixed ^ (mixed >>> 15)) >>> 0) % limit
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)] as Value
  }
}
