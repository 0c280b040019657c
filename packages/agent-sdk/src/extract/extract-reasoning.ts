import { anthropicReader } from './anthropic.js'
import { bedrockReader } from './bedrock.js'
import { chatReader, ollamaReader } from './chat.js'
import { cohereReader, cohereV1Reader } from './cohere.js'
import type { Extraction, ExtractOptions, Format, StreamEvent } from './extraction.js'
import { ExtractionCollector } from './extraction-collector.js'
import { geminiReader } from './gemini.js'
import { type Json, record } from './json.js'
import { EventText } from './json-events.js'
import { responsesReader } from './responses.js'

/**
 * Reads the complete response of any provider, as parsed JSON. `null` = it contains nothing readable, not even an empty answer.
 * Never throws.
 */
export function extractReasoning(
  response: unknown,
  { prefilled = false }: ExtractOptions = {},
): Extraction | null {
  const whole = record(response)
  if (whole === undefined) return null
  const collector = new ExtractionCollector(prefilled)
  for (const read of readersFor(collector)) read(whole)
  return collector.end(true)
}

const nothing: Extraction = {
  reasoning: null,
  format: 'parsed',
  source: 'none',
  text: '',
  toolCalls: [],
  opaque: [],
}

/** Reads the streamed response of any provider, event by event. Never throws, and skips unreadable events. */
export class ReasoningStream {
  readonly #collector: ExtractionCollector
  readonly #readers: readonly ((chunk: Json) => void)[]
  #text: EventText | undefined
  #extraction: Extraction | undefined

  constructor({ prefilled = false }: ExtractOptions = {}) {
    const collector = new ExtractionCollector(prefilled)
    this.#collector = collector
    this.#readers = readersFor(collector)
  }

  /**
   * Reads `chunk`: a parsed event of the provider, or the next piece of the body as bytes or text, split anywhere. Returns the
   * resulting events; none after `end`.
   */
  push(chunk: unknown): StreamEvent[] {
    if (this.#extraction !== undefined) return []
    for (const event of this.#eventsIn(chunk)) this.#read(event)
    return this.#collector.drainEvents()
  }

  /** Returns the content of the response; call it when the stream has ended. Repeated calls return the same object. */
  end(): Extraction {
    if (this.#extraction === undefined) {
      for (const event of this.#text?.end() ?? []) this.#read(event)
      this.#extraction = this.#collector.end(false) ?? nothing
    }
    return this.#extraction
  }

  #eventsIn(chunk: unknown): unknown[] {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return [chunk]
    this.#text ??= new EventText()
    return this.#text.push(chunk)
  }

  #read(chunk: unknown): void {
    const event = record(chunk)
    if (event === undefined) return
    for (const read of this.#readers) read(event)
  }
}

export interface FoundReasoning {
  readonly text: string
  readonly format: Format
}

const formats = ['parsed', 'raw', 'think_tags', 'anthropic'] as const

/**
 * Calls the method `extractReasoning` of a client. It may return the reasoning as text, `[text, format]`, `{ text, format }`,
 * or an `Extraction`; the default format is `parsed`. `null` = the client has no such method, or it found no reasoning.
 * Rethrows its errors.
 */
export function reasoningBy(client: unknown, response: unknown): FoundReasoning | null {
  if (!canExtract(client)) return null
  const found = client.extractReasoning(response)
  if (Array.isArray(found)) return asFound(found[0], found[1])
  const parts = record(found)
  if (parts === undefined) return asFound(found, undefined)
  return asFound('reasoning' in parts ? parts.reasoning : parts.text, parts.format)
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

const families = [
  chatReader,
  anthropicReader,
  responsesReader,
  geminiReader,
  bedrockReader,
  cohereReader,
  cohereV1Reader,
  ollamaReader,
]

/** Creates readers for one response, complete or in chunks. Each reader handles one format and ignores others. */
const readersFor = (collector: ExtractionCollector): ((chunk: Json) => void)[] =>
  families.map((family) => family(collector))
