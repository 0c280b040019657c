import { Collector } from './collector.js'
import type { Extraction, ExtractOptions, StreamEvent } from './extraction.js'
import { readersFor } from './families/all.js'
import { type Json, record } from './json.js'

const nothing: Extraction = {
  reasoning: null,
  format: 'parsed',
  source: 'none',
  text: '',
  toolCalls: [],
  opaque: [],
}

/** Reads the streamed response of any provider, event by event. It never throws: what makes no sense is passed over. */
export class ReasoningStream {
  readonly #collector: Collector
  readonly #readers: readonly ((chunk: Json) => void)[]
  #extraction: Extraction | undefined

  constructor({ prefilled = false }: ExtractOptions = {}) {
    const collector = new Collector(prefilled)
    this.#collector = collector
    this.#readers = readersFor(collector)
  }

  /** `chunk`: one event as the provider sent it, its JSON parsed. Gives what it adds; nothing after `end`. */
  push(chunk: unknown): StreamEvent[] {
    const event = record(chunk)
    if (event === undefined || this.#extraction !== undefined) return []
    for (const read of this.#readers) read(event)
    return this.#collector.takeEvents()
  }

  /** What the response was, now that nothing follows; the same again if called again. */
  end(): Extraction {
    this.#extraction ??= this.#collector.end(false) ?? nothing
    return this.#extraction
  }
}
