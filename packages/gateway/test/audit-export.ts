import { createHash } from 'node:crypto'
import type { EnvelopeLog, LogStore, Query } from '@meup/gateway'
import { type ExportVerdict, type KnownHead, verifyExport } from '@meup/protocol'
import { asking } from './http-client.js'
import { isIndexing } from './indexing.js'
import { type StartOptions, start } from './support.js'

export const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

/** Verifies an export that arrives in small pieces. */
export const verdictFor = (text: string | Uint8Array, known?: KnownHead): Promise<ExportVerdict> =>
  verifyExport(piecesOf(Buffer.from(text)), sha256, known)

function* piecesOf(bytes: Buffer): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += 1000) yield bytes.subarray(start, start + 1000)
}

/** A line of an export: its first line, an envelope, a hash, or its last line. */
export interface Line {
  readonly epoch?: string
  readonly first?: number
  readonly previous?: string
  readonly seq?: number
  readonly salt?: string
  readonly body?: string
  readonly leaf?: string
  readonly head?: number
  readonly hash?: string
}

/** Parses the lines of an export; throws if the last line does not end with a line feed. */
export function linesOf(text: string): Line[] {
  const lines = text.split('\n')
  if (lines.pop() !== '') throw new Error('the last line is not ended')
  return lines.map((line) => JSON.parse(line) as Line)
}

/** An export of the space `test`, as text; rejects if the response ends early. */
export async function exportOf(url: string, reader: string, query = ''): Promise<string> {
  const response = await asking(url, reader).get(`/audit/export${query}`)
  if (response.status !== 200) throw new Error(await response.text())
  return response.text()
}

/** A store that calls `reading` before each read of its logs, except those of the indexer. */
export function watched(inner: LogStore, reading: (query: Query, log: EnvelopeLog) => unknown): LogStore {
  return {
    ...(inner.path !== undefined && { path: inner.path }),
    async open(space) {
      const log = await inner.open(space)
      const read: EnvelopeLog['read'] = async (query) => {
        if (!isIndexing(query)) await reading(query, log)
        return log.read(query)
      }
      return Object.assign(Object.create(log) as EnvelopeLog, { read })
    },
    close: () => inner.close(),
  }
}

export const participants = { alice: ['*'], bob: ['*'], auditor: ['observe.targeted'] }

/** A space with public and addressed messages, and with visible and hidden thoughts. */
export async function talkedIn(options: Partial<StartOptions> = {}) {
  const running = await start({ participants, ...options })
  const said = await running.post('alice', [
    { id: 'open', kind: 'chat', payload: { message: 'for everyone: é 😀 \u2028 "quoted" \\ \u0007' } },
    { id: 'aside', kind: 'chat', to: ['bob'], payload: { message: 'SECRET' } },
    { id: 'run', kind: 'reasoning.start', payload: { message: 'hm' } },
    { id: 'thought', kind: 'reasoning.thought', context: 'run', payload: { message: 'so' } },
    { id: 'hide', kind: 'observe.visibility', payload: { context: 'run', reasoningVisible: false } },
    { id: 'hidden', kind: 'reasoning.thought', context: 'run', payload: { message: 'HIDDEN' } },
    { id: 'ask', kind: 'mcp.request', to: ['bob'], payload: { method: 'tools/list' } },
  ])
  if (said.status !== 201) throw new Error(JSON.stringify(said.body))
  await running.post('bob', { id: 'aloud', kind: 'chat', payload: { message: 'yes' } })
  return running
}
