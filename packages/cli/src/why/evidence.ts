import { createHash } from 'node:crypto'
import type { HttpClient } from '@meup/agent-sdk/http'
import { exportLine, readExportLine, splitLines } from '@meup/protocol'
import type { Explanation } from './explanation.js'

/**
 * Exports the envelopes of an explanation with their salts, for `meup audit verify`. The export runs from the first of them to
 * the log's head; every other envelope is replaced by its hash in the chain.
 */
export async function* exportEvidence(
  http: HttpClient,
  { why, grant }: Explanation,
): AsyncGenerator<Uint8Array, void> {
  const seqs = new Set(why.steps.map(({ seq }) => seq))
  if (grant?.seq !== undefined) seqs.add(grant.seq)
  const pieces = await http.openExport({ format: 'jsonl', after: Math.min(...seqs) - 1 })
  for await (const line of splitLines(pieces)) {
    const record = readExportLine(line)
    const isLeft = record !== undefined && 'body' in record && !seqs.has(record.seq)
    yield isLeft ? Buffer.from(exportLine({ seq: record.seq, leaf: hashLeaf(record) })) : line
  }
}

/** Hash of an envelope in the chain [MEUP-10.4]. */
const hashLeaf = ({ salt, body }: { readonly salt: string; readonly body: string }): string =>
  createHash('sha256').update(Buffer.from(salt, 'hex')).update(body).digest('hex')
