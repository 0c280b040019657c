import { createHash } from 'node:crypto'
import { readBody } from '@meup/gateway'
import { type AnyEnvelope, type ExportVerdict, readExport, splitLines } from '@meup/protocol'
import { readEnvelopes } from './read-envelopes.js'
import type { Damage, Extent, Item } from './recorded.js'
import type { Recording } from './recording.js'

/**
 * Reads a recording: an export, or plain envelopes, one a line. That it is damaged may show at its end alone: until then,
 * nothing of it is certain.
 */
export async function* readRecording(recording: Recording): AsyncGenerator<Item, Extent | Damage> {
  const isPlain = await beginsPlainly(recording)
  return yield* (isPlain ? readEnvelopes : readProven)(recording.pieces())
}

/** Whether the first line looks like an envelope. Whatever else it is must prove to be an export. */
async function beginsPlainly(recording: Recording): Promise<boolean> {
  for await (const line of splitLines(recording.pieces())) {
    try {
      return Object.hasOwn(Object(JSON.parse(Buffer.from(line).toString())), 'kind')
    } catch {
      return false
    }
  }
  return false
}

async function* readProven(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Item, Extent | Damage> {
  const records = readExport(pieces, (bytes) => createHash('sha256').update(bytes).digest())
  for (let line = 1; ; line++) {
    const { done, value } = await records.next()
    if (done) return value.ok ? extentOf(value) : value
    if (!('seq' in value)) continue
    if ('leaf' in value) {
      yield { withheld: value.seq }
      continue
    }
    const envelope = readBody(value.body)
    if (typeof envelope === 'string') return { ok: false, line, problem: envelope }
    yield { envelope: { seq: value.seq, ...envelope } as AnyEnvelope, row: value }
  }
}

function extentOf(whole: Extract<ExportVerdict, { ok: true }>): Extent {
  const { first, head, checked, shown, epoch, hash } = whole
  return { ok: true, first, head, withheld: checked - shown, proof: { epoch, hash } }
}
