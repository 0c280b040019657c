import type { Format } from './extraction.js'
import { record } from './json.js'

export interface FoundReasoning {
  readonly text: string
  readonly format: Format
}

const formats = ['parsed', 'raw', 'think_tags', 'anthropic'] as const

/**
 * Asks a client for the reasoning in its response, if it has a method `extractReasoning`; `null` = it has none, or found
 * none. The method returns the text, or text and format as `[text, format]` or `{ text, format }`, or an `Extraction`.
 * Without a format it is `parsed`. What the method throws is thrown on.
 */
export function reasoningBy(client: unknown, response: unknown): FoundReasoning | null {
  if (!canExtract(client)) return null
  const found = client.extractReasoning(response)
  if (Array.isArray(found)) return asFound(found[0], found[1])
  const told = record(found)
  if (told === undefined) return asFound(found, undefined)
  return asFound('reasoning' in told ? told.reasoning : told.text, told.format)
}

interface Extracting {
  extractReasoning(response: unknown): unknown
}

const canExtract = (client: unknown): client is Extracting =>
  ((typeof client === 'object' && client !== null) || typeof client === 'function') &&
  'extractReasoning' in client &&
  typeof client.extractReasoning === 'function'

function asFound(text: unknown, format: unknown): FoundReasoning | null {
  if (typeof text !== 'string' || text === '') return null
  return { text, format: formats.find((each) => each === format) ?? 'parsed' }
}
