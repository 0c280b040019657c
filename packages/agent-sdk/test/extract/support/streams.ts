import {
  type Extraction,
  type ExtractOptions,
  jsonEvents,
  ReasoningStream,
  type StreamEvent,
} from '@meup/agent-sdk/extract'

export interface Streamed {
  readonly extraction: Extraction
  readonly events: readonly StreamEvent[]
}

export function streamed(chunks: readonly unknown[], options?: ExtractOptions): Streamed {
  const stream = new ReasoningStream(options)
  const events = chunks.flatMap((chunk) => stream.push(chunk))
  return { extraction: stream.end(), events }
}

/** The concatenated texts of events of one type. */
export const said = (events: readonly StreamEvent[], type: 'reasoning' | 'text'): string =>
  events.map((event) => (event.type === type ? event.text : '')).join('')

export const asServerSent = (chunks: readonly unknown[]): string =>
  `: hello\n\n${chunks.map((chunk) => `event: x\r\ndata: ${JSON.stringify(chunk)}\r\n\r\n`).join('')}data: [DONE]\n\n`

export const asLines = (chunks: readonly unknown[]): string =>
  chunks.map((chunk) => `${JSON.stringify(chunk)}\n`).join('')

export async function parsed(parts: readonly Uint8Array[]): Promise<unknown[]> {
  const chunks: unknown[] = []
  for await (const chunk of jsonEvents(parts)) chunks.push(chunk)
  return chunks
}
