import {
  type Extraction,
  extractReasoning,
  type FoundReasoning,
  reasoningBy,
  type ToolCall,
} from '../extract/index.js'
import { record, records } from '../extract/json.js'
import { TranscriptError } from './errors.js'
import type { ModelClient } from './model-client.js'
import { type Usage, usageOf } from './usage.js'

/** What a response says. */
export interface Reading {
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
  readonly reasoning: Found | null
  /** What its provider may demand back, and where it was. */
  readonly opaque: { readonly source: string; readonly items: readonly unknown[] }
  readonly usage: Usage | null
}

export interface Found extends FoundReasoning {
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** Whether there is reasoning is for the client to say. Throws `unreadable_response`. */
export function readResponse(client: ModelClient, response: unknown): Reading {
  const extraction = extractReasoning(response) ?? readAlready(response)
  if (extraction === null) {
    throw new TranscriptError('unreadable_response', 'no provider is known to give a response like this')
  }
  const found = reasoningBy(client, response)
  return {
    text: extraction.text,
    toolCalls: withIds(extraction.toolCalls),
    reasoning: found === null ? null : described(found, extraction),
    opaque: { source: extraction.source, items: opaqueIn(extraction, response) },
    usage: usageOf(response, extraction.tokens),
  }
}

/** What a client has read by itself: an extraction, as much of one as there is, or a text, which may hold tags. */
function readAlready(response: unknown): Extraction | null {
  if (typeof response === 'string') return extractReasoning({ choices: [{ message: { content: response } }] })
  const body = record(response) ?? {}
  // Field by field, since all else, such as the usage, is read later.
  const told = Object.fromEntries(fields.flatMap((name) => (name in body ? [[name, body[name]]] : [])))
  const { text, toolCalls, opaque, ...rest } = { ...nothing, ...(told as Partial<Extraction>) }
  const isRead = typeof text === 'string' && Array.isArray(toolCalls) && Array.isArray(opaque)
  return isRead ? { ...rest, text, toolCalls, opaque } : null
}

const fields = [
  'text',
  'reasoning',
  'format',
  'source',
  'toolCalls',
  'opaque',
  'redacted',
  'truncated',
  'tokens',
] as const satisfies readonly (keyof Extraction)[]

const nothing = { reasoning: null, format: 'parsed', source: 'none', toolCalls: [], opaque: [] } as const

/** Newer models sign thoughts without telling them. Where it was is known if it is what was found here, too. */
function described(
  found: FoundReasoning,
  { reasoning, source, redacted, truncated }: Extraction,
): Found | null {
  if (found.text.trim() === '') return null
  if (found.text !== reasoning) return found
  return { ...found, metadata: { source, ...(redacted && { redacted }), ...(truncated && { truncated }) } }
}

/** DeepSeek and its kin read what they thought before a call, an empty text too, and take no such turn without. */
function opaqueIn(
  { opaque, toolCalls, source, reasoning }: Extraction,
  response: unknown,
): readonly unknown[] {
  if (opaque.length > 0 || toolCalls.length === 0) return opaque
  const [choice] = records(record(response)?.choices)
  const field =
    record(choice?.message)?.reasoning_content ?? (source === 'reasoning_content' ? reasoning : null)
  return typeof field === 'string' ? [{ reasoning_content: field }] : []
}

/** Results name their calls, and some providers do not: they know them by their order. */
function withIds(calls: readonly ToolCall[]): ToolCall[] {
  const taken = new Set<string>()
  return calls.map((call, index) => {
    let { id } = call
    while (id === '' || taken.has(id)) id = `${id || 'call'}-${index}`
    taken.add(id)
    return { ...call, id }
  })
}
