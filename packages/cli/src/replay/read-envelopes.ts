import { readLogged } from '@meup/gateway'
import { type AnyEnvelope, type Envelope, splitLines } from '@meup/protocol'
import type { Damage, Extent, Item } from './recorded.js'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Envelopes as `watch --json` prints them, or the HTTP API gives them: one a line, in the order of the log. */
export async function* readEnvelopes(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Item, Extent | Damage> {
  let [line, first, last] = [0, 0, 0]
  let gap: number | undefined
  for await (const bytes of splitLines(pieces)) {
    line++
    const read = readLine(bytes)
    if (typeof read === 'string') return { ok: false, line, problem: read }
    const { envelope, json } = read
    const { seq } = envelope
    if (seq === undefined) {
      yield { envelope: envelope as AnyEnvelope }
      continue
    }
    if (seq <= last) return { ok: false, line, problem: `seq ${seq} follows ${last}` }
    if (seq > last + 1) gap ??= last + 1
    ;[first, last] = [first || seq, seq]
    yield { envelope: envelope as AnyEnvelope, row: { seq, body: bodyOf(json, envelope) } }
  }
  return { ok: true, first, head: last, withheld: 0, ...(gap !== undefined && { gap }) }
}

/** A text = what is wrong with it. */
function readLine(bytes: Uint8Array): { readonly envelope: Envelope; readonly json: string } | string {
  let json: string
  try {
    json = decoder.decode(bytes).trimEnd()
  } catch {
    return 'this is no UTF-8'
  }
  const envelope = readLogged(json)
  return typeof envelope === 'string' ? envelope : { envelope, json }
}

/** Without its seq, and otherwise the characters that are there; where the seq is not in front, as JSON that says the same. */
function bodyOf(json: string, { seq, ...envelope }: Envelope): string {
  const front = `{"seq":${seq},`
  return json.startsWith(front) ? `{${json.slice(front.length)}` : JSON.stringify(envelope)
}
