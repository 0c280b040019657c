import { ExportChain, type ExportVerdict, type KnownHead, type Sha256 } from './export-chain.js'
import { type ExportRecord, readExportLine } from './export-lines.js'
import { linesOf } from './lines.js'

/**
 * Whether an export, as it comes in pieces, is whole and as the gateway wrote it [MEUP-10.4]. With `known`, its chain must
 * also lead through that head: then nobody has rewritten what came before it. Runs in browsers, too.
 */
export async function verifyExport(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  sha256: Sha256,
  known?: KnownHead,
): Promise<ExportVerdict> {
  const records = readExport(pieces, sha256, known)
  for (;;) {
    const { done, value } = await records.next()
    if (done) return value
  }
}

/**
 * The records of an export, one for each line, and in the end the verdict of `verifyExport`. That an envelope was changed
 * may show at the end alone: until then, nothing that was read is proven.
 */
export async function* readExport(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  sha256: Sha256,
  known?: KnownHead,
): AsyncGenerator<ExportRecord, ExportVerdict> {
  const chain = new ExportChain(sha256, known)
  let line = 0
  for await (const bytes of linesOf(pieces)) {
    line++
    const record = readExportLine(bytes)
    if (record === undefined) return { ok: false, line, problem: 'no gateway has written this line' }
    const problem = await chain.take(record)
    if (problem !== undefined) return { ok: false, line, problem }
    yield record
  }
  return chain.verdict ?? { ok: false, line, problem: chain.lack }
}
