import { createHash } from 'node:crypto'
import type { HttpClient } from '@meup/agent-sdk/http'
import { exportLine, readExportLine, splitLines } from '@meup/protocol'
import type { Explanation } from './explanation.js'

/**
 * The envelopes of an explanation with their salts, as an export that `meup audit verify` checks without a gateway: from the first of
 * them to the head of the log, everything else as its leaf in the hash chain.
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

/** [MEUP-10.4] */
const hashLeaf = ({ salt, body }: { readonly salt: string; readonly body: string }): string =>
  createHash('sha256').update(Buffer.from(salt, 'hex')).update(body).digest('hex')
