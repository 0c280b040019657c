import { createHash } from 'node:crypto'
import type { RecordedItem, RecordingDamage, RecordingExtent } from '../../src/replay/recording.js'
import { readRecording } from '../../src/replay/recording.js'

const sha256 = (...parts: Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest()

/** Bodies of a log's envelopes: its opening, then this many chats. */
export function bodies(chats: number): string[] {
  const opened = { event: 'opened', space: 'demo', epoch: 'the-epoch' }
  const head = { protocol: 'meup/v0.3', ts: '2026-01-02T03:04:05.678Z' }
  return [
    { ...head, from: 'system:gateway', id: 'e1', kind: 'system.space', payload: opened },
    ...Array.from({ length: chats }, (_, i) => {
      return { ...head, from: 'ana', id: `e${i + 2}`, kind: 'chat', payload: { message: `é ${i}` } }
    }),
  ].map((envelope) => JSON.stringify(envelope))
}

/** An export of these bodies, from the seq `first` on; for seqs in `withheld`, only the hash. */
export function createExport(all: readonly string[], first = 1, withheld: readonly number[] = []): string {
  const epoch = 'the-epoch'
  const salt = Buffer.alloc(16, 7)
  const previous = first === 1 ? sha256(Buffer.from(epoch)) : Buffer.alloc(32, 9)
  let hash = previous
  const lines = all.map((body, at) => {
    const seq = first + at
    const place = Buffer.alloc(8)
    place.writeBigUInt64BE(BigInt(seq))
    const leaf = sha256(salt, Buffer.from(body))
    hash = sha256(hash, place, leaf)
    return withheld.includes(seq)
      ? { seq, leaf: leaf.toString('hex') }
      : { seq, salt: salt.toString('hex'), body }
  })
  const header = { epoch, first, previous: previous.toString('hex') }
  const trailer = { epoch, head: first + all.length - 1, hash: hash.toString('hex') }
  return [header, ...lines, trailer].map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** Plain envelopes, as `watch --json` prints them. */
export const plain = (all: readonly string[]): string =>
  all.map((body, at) => `{"seq":${at + 1},${body.slice(1)}\n`).join('')

/** Reads a recording to its end. */
export async function readText(
  text: string | Uint8Array,
): Promise<{ items: RecordedItem[]; end: RecordingExtent | RecordingDamage }> {
  const bytes = Buffer.from(text)
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += 100) yield bytes.subarray(at, at + 100)
  }
  const reading = readRecording({ name: 'it', pieces, close: async () => {} })
  const items: RecordedItem[] = []
  for (;;) {
    const { done, value } = await reading.next()
    if (done) return { items, end: value }
    items.push(value)
  }
}
