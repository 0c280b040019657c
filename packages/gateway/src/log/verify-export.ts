import { ExportChain, type ExportVerdict, type KnownHead, type Sha256 } from './export-chain.js'
import { readExportLine } from './export-lines.js'
import { join } from './join.js'

/**
 * Whether an export, as it comes in pieces, is whole and as the gateway wrote it [MEUP-10.4]. With `known`, its chain must
 * also lead through that head: then nobody has rewritten what came before it. Runs in browsers, too.
 */
export async function verifyExport(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  sha256: Sha256,
  known?: KnownHead,
): Promise<ExportVerdict> {
  const chain = new ExportChain(sha256, known)
  let line = 0
  for await (const bytes of linesOf(pieces)) {
    line++
    const record = readExportLine(bytes)
    const problem = record === undefined ? 'no gateway has written this line' : await chain.take(record)
    if (problem !== undefined) return { ok: false, line, problem }
  }
  return chain.verdict ?? { ok: false, line, problem: chain.lack }
}

const lineFeed = 0x0a

/** Each with the line feed that ends it; the last may lack it. */
async function* linesOf(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = []
  for await (const piece of pieces) {
    let start = 0
    for (let end = piece.indexOf(lineFeed); end >= 0; end = piece.indexOf(lineFeed, start)) {
      yield join(...parts, piece.subarray(start, end + 1))
      parts = []
      start = end + 1
    }
    if (start < piece.length) parts.push(piece.subarray(start))
  }
  if (parts.length > 0) yield join(...parts)
}
