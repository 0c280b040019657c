import type { Extraction, StreamEvent } from './extraction.js'
import { isFilled, record } from './json.js'
import { type Origin, places } from './origins.js'
import { TagReader } from './tags/tag-reader.js'
import type { Piece } from './tags/trim.js'
import { Thoughts } from './thoughts.js'
import { type CallPart, ToolCalls } from './tool-calls.js'
import { readUsage } from './usage.js'

/** How providers say that they stopped before the model was done. */
const cutOff =
  /length|max_(?:output_)?tokens|context_window|error|failed|incomplete|cancel|timeout|safety|filter/i

/** What was found in a response so far. The readers of the providers' forms tell it what they meet, in order. */
export class Collector {
  readonly #prefilled: boolean
  readonly #thoughts = new Thoughts()
  readonly #opaque: unknown[] = []
  readonly #calls = new ToolCalls()
  #tags: TagReader | undefined
  /** There is an answer, if only an empty one. */
  #isAnswered = false
  #events: StreamEvent[] = []
  #tokens: number | undefined
  #finish: string | undefined
  #sealed: Origin | undefined
  #isRedacted = false
  /** What came last is reasoning, and more of it may come. */
  #isThinking = false
  #endsInThought = false
  /** How often the answer was interrupted by thoughts. */
  #turn = 0

  constructor(prefilled: boolean) {
    this.#prefilled = prefilled
  }

  /** `part`: where several parts make up the reasoning, which one this is from; they are put a blank line apart. */
  reasoning(origin: Origin, text: string, part: string | number = 0): void {
    if (text === '') return
    this.#isThinking = true
    this.#endsInThought = true
    this.#add(origin, text, part)
  }

  /** One of several thoughts between which the provider draws no line but the answer. */
  thought(origin: Origin, text: string): void {
    this.reasoning(origin, text, this.#turn)
  }

  endThought(): void {
    this.#isThinking = false
  }

  /** A piece of the answer, perhaps with thoughts in tags. */
  text(text: string): void {
    this.#isAnswered = true
    if (text === '') return
    // Where thoughts come apart from the text, its beginning is no thought.
    this.#tags ??= new TagReader({ prefilled: this.#prefilled && this.#thoughts.isEmpty })
    this.#take(this.#tags.push(text))
  }

  /** Has to be sent back as it is. */
  opaque(item: unknown): void {
    this.#opaque.push(item)
  }

  /** There is reasoning in it that the provider alone can read. */
  sealed(origin: Origin): void {
    this.#sealed ??= origin
  }

  /** Reasoning was replaced by something that cannot be read. */
  redacted(): void {
    this.#isRedacted = true
  }

  callPart(key: string | number, part: CallPart): void {
    this.#calls.add(key, part)
    this.#answers()
  }

  /** A call that came in one piece: those before it are complete as well. */
  call(part: CallPart): void {
    this.callPart(`whole-${this.#calls.size}`, part)
    this.endCalls()
  }

  /** Without `key`, all of them. */
  endCalls(key?: string | number): void {
    this.#events.push(...this.#calls.close(key).map((call) => ({ type: 'toolCall' as const, ...call })))
  }

  usage(value: unknown): void {
    const usage = readUsage(record(value) ?? {})
    if (Object.keys(usage).length === 0) return
    this.#tokens = usage.tokens ?? this.#tokens
    this.#events.push({ type: 'usage', ...usage })
  }

  /** The provider says why it stopped. */
  finish(reason: unknown): void {
    if (!isFilled(reason) || reason === 'null') return
    this.#finish = reason
    this.#take(this.#tags?.flush() ?? [])
    this.endCalls()
  }

  takeEvents(): StreamEvent[] {
    const events = this.#events
    this.#events = []
    return events
  }

  /**
   * To be called once, at the end; `null` = nothing was found that could be read, not even an empty answer. `isWhole`: this
   * is all there is, even if no provider says so.
   */
  end(isWhole: boolean): Extraction | null {
    const told = this.#tags?.end()
    if (told !== undefined) this.#thoughts.settleTags(told.reasoning)
    const isEmpty = !this.#isAnswered && this.#thoughts.isEmpty && this.#opaque.length === 0
    if (isEmpty && this.#calls.size === 0 && this.#tokens === undefined) return null
    const { origin = this.#sealed, text: reasoning = null } = this.#thoughts.best ?? {}
    const isCut = this.#finish === undefined ? this.#isThinking && !isWhole : cutOff.test(this.#finish)
    const isTruncated = told?.isTruncated === true || (this.#endsInThought && isCut)
    const isRedacted = this.#isRedacted || (reasoning === null && this.#sealed !== undefined)
    return {
      reasoning,
      format: origin === undefined ? 'parsed' : places[origin].format,
      source: origin === undefined ? (this.#tokens ? 'usage' : 'none') : places[origin].source,
      text: told?.text ?? '',
      toolCalls: this.#calls.all,
      opaque: this.#opaque,
      ...(isRedacted && { redacted: true }),
      ...(isTruncated && { truncated: true }),
      ...(this.#tokens !== undefined && { tokens: this.#tokens }),
    }
  }

  #add(origin: Origin, text: string, part: string | number): void {
    const told = this.#thoughts.add(origin, text, part)
    if (told !== undefined) this.#events.push({ type: 'reasoning', text: told })
  }

  #take(pieces: readonly Piece[]): void {
    for (const { type, text } of pieces) {
      if (type === 'reasoning') this.#add('tags', text, 0)
      else {
        this.#events.push({ type, text })
        this.#answers()
      }
    }
  }

  #answers(): void {
    if (this.#endsInThought) this.#turn++
    this.#isThinking = false
    this.#endsInThought = false
  }
}
