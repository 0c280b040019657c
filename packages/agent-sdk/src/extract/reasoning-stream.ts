import { Collector } from './collector.js'
import type { Extraction, ExtractOptions, StreamEvent } from './extraction.js'
import { readersFor } from './families/all.js'
import { type Json, record } from './json.js'
import { EventText } from './json-events.js'

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
  #text: EventText | undefined
  #extraction: Extraction | undefined

  constructor({ prefilled = false }: ExtractOptions = {}) {
    const collector = new Collector(prefilled)
    this.#collector = collector
    this.#readers = readersFor(collector)
  }

  /**
   * `chunk`: one event as the provider sent it, its JSON parsed; or the next piece of the body, as bytes or text, split
   * anywhere, as `jsonEvents` takes it. Gives what it adds; nothing after `end`.
   */
  push(chunk: unknown): StreamEvent[] {
    if (this.#extraction !== undefined) return []
    for (const event of this.#eventsIn(chunk)) this.#read(event)
    return this.#collector.takeEvents()
  }

  /** What the response was, now that nothing follows; the same again if called again. */
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
