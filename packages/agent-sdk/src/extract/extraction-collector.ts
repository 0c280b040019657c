import type { ExtractedCall, Extraction, ExtractionSource, Format, StreamEvent } from './extraction.js'
import { readEnding } from './finish-reasons.js'
import { isFilled, record } from './json.js'
import { parseJson, readArguments } from './json-text.js'
import type { Piece } from './tag-parts.js'
import { TagReader } from './tag-reader.js'
import { cutName } from './tag-tokens.js'
import { readProviderUsage } from './usage.js'

/** Origins of reasoning in order of preference. If a response has several, only the first one is used. */
const chain = [
  { origin: 'reasoning', source: 'reasoning', format: 'parsed' },
  { origin: 'reasoning_content', source: 'reasoning_content', format: 'parsed' },
  { origin: 'anthropic', source: 'thinking', format: 'anthropic' },
  { origin: 'thinking', source: 'thinking', format: 'parsed' },
  { origin: 'reasoning_details', source: 'reasoning_details', format: 'parsed' },
  { origin: 'reasoning_text', source: 'reasoning_text', format: 'parsed' },
  { origin: 'summary', source: 'summary', format: 'parsed' },
  { origin: 'thought', source: 'thought', format: 'parsed' },
  { origin: 'reasoningContent', source: 'reasoningContent', format: 'parsed' },
  { origin: 'tool_plan', source: 'tool_plan', format: 'parsed' },
  { origin: 'tags', source: 'tags', format: 'think_tags' },
] as const satisfies readonly { origin: string; source: ExtractionSource; format: Format }[]

type Origin = (typeof chain)[number]['origin']

interface Place {
  /** Origins with a lower rank are preferred. */
  readonly rank: number
  readonly source: ExtractionSource
  readonly format: Format
}

const places = Object.fromEntries(
  chain.map(({ origin, source, format }, rank) => [origin, { rank, source, format }]),
) as Record<Origin, Place>

/** Collects the parts of a response as an `Extraction`. The readers of provider formats call its methods in the order of the response. */
export class ExtractionCollector {
  readonly #prefilled: boolean
  readonly #thoughts = new Thoughts()
  readonly #opaque: unknown[] = []
  readonly #calls = new ToolCalls()
  #tags: TagReader | undefined
  /** The response contains an answer, possibly an empty one. */
  #isAnswered = false
  #events: StreamEvent[] = []
  #tokens: number | undefined
  #finish: string | undefined
  #sealed: Origin | undefined
  #isRedacted = false
  /** The latest part is reasoning, and has not been ended explicitly. */
  #isThinking = false
  #endsInThought = false
  /** How often text of the answer has followed a thought: numbers the thoughts of formats that do not number them. */
  #turn = 0

  constructor(prefilled: boolean) {
    this.#prefilled = prefilled
  }

  /**
   * Adds a piece of reasoning. `part` identifies the part of the reasoning that it belongs to; parts are separated by blank
   * lines.
   */
  reasoning(origin: Origin, text: string, part: string | number = 0): void {
    if (text === '') return
    this.#isThinking = true
    this.#endsInThought = true
    this.#add(origin, text, part)
  }

  /** Adds a thought in a format that marks the end of a thought only by text of the answer. */
  thought(origin: Origin, text: string): void {
    this.reasoning(origin, text, this.#turn)
  }

  endThought(): void {
    this.#isThinking = false
  }

  /** Adds a piece of the answer, possibly with thoughts in tags. */
  text(text: string): void {
    this.#isAnswered = true
    if (text === '') return
    // If the provider sends reasoning separately, text does not start inside a `<think>` tag.
    this.#tags ??= new TagReader({ prefilled: this.#prefilled && this.#thoughts.isEmpty })
    this.#onPieces(this.#tags.push(text))
  }

  /** Adds an item of the response that has to be sent back unchanged. */
  opaque(item: unknown): void {
    this.#opaque.push(item)
  }

  /** Records that the response contains reasoning that only the provider can read. */
  sealed(origin: Origin): void {
    this.#sealed ??= origin
  }

  /** Records that the provider has replaced reasoning by an unreadable text. */
  redacted(): void {
    this.#isRedacted = true
  }

  callPart(key: string | number, part: CallPart): void {
    this.#calls.add(key, part)
    this.#answers()
  }

  /** Adds a complete call, and ends earlier ones. */
  call(part: CallPart): void {
    this.callPart(`whole-${this.#calls.size}`, part)
    this.endCalls()
  }

  /** Ends the call with this key; without a key, ends all calls. */
  endCalls(key?: string | number): void {
    this.#events.push(...this.#calls.close(key).map((call) => ({ type: 'toolCall' as const, ...call })))
  }

  usage(value: unknown): void {
    const usage = readProviderUsage(record(value) ?? {})
    if (Object.keys(usage).length === 0) return
    this.#tokens = usage.tokens ?? this.#tokens
    this.#events.push({ type: 'usage', ...usage })
  }

  /** Ends the answer with the provider's finish reason. */
  finish(reason: unknown): void {
    if (!isFilled(reason) || reason === 'null') return
    this.#finish = reason
    this.#onPieces(this.#tags?.flush() ?? [])
    this.endCalls()
  }

  drainEvents(): StreamEvent[] {
    const events = this.#events
    this.#events = []
    return events
  }

  /**
   * Returns the content of the response; call it once, at the end. `null` = nothing readable was found, not even an empty
   * answer. `isWhole`: the response is complete even if it has no finish reason.
   */
  end(isWhole: boolean): Extraction | null {
    const tagged = this.#tags?.end()
    if (tagged !== undefined) this.#thoughts.settleTags(tagged.reasoning)
    const isEmpty = !this.#isAnswered && this.#thoughts.isEmpty && this.#opaque.length === 0
    if (isEmpty && this.#calls.size === 0 && this.#tokens === undefined) return null
    const { origin = this.#sealed, text: reasoning = null } = this.#thoughts.best ?? {}
    const isCut =
      this.#finish === undefined
        ? this.#isThinking && !isWhole
        : (readEnding(this.#finish) ?? 'whole') !== 'whole'
    const isTruncated = tagged?.isTruncated === true || (this.#endsInThought && isCut)
    const isRedacted = this.#isRedacted || (reasoning === null && this.#sealed !== undefined)
    return {
      reasoning,
      format: origin === undefined ? 'parsed' : places[origin].format,
      source: origin === undefined ? (this.#tokens ? 'usage' : 'none') : places[origin].source,
      text: tagged === undefined ? '' : tagged.text + tagged.called,
      toolCalls: this.#calls.all,
      opaque: this.#opaque,
      ...(isRedacted && { redacted: true }),
      ...(isTruncated && { truncated: true }),
      ...(this.#tokens !== undefined && { tokens: this.#tokens }),
    }
  }

  #add(origin: Origin, text: string, part: string | number): void {
    const added = this.#thoughts.add(origin, text, part)
    if (added !== undefined) this.#events.push({ type: 'reasoning', text: added })
  }

  #onPieces(pieces: readonly Piece[]): void {
    for (const { type, text } of pieces) {
      if (type === 'reasoning') this.#add('tags', text, 0)
      else {
        this.#events.push({ type: 'text', text })
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

interface Thought {
  text: string
  /** The part of the reasoning that the end of the text belongs to. */
  part: string | number
}

/** The reasoning of a response, by its origin: the field that contained it, or tags. */
class Thoughts {
  readonly #byOrigin = new Map<Origin, Thought>()
  /** Rank of the preferred origin that has text. */
  #rank = Number.POSITIVE_INFINITY

  get isEmpty(): boolean {
    return this.#byOrigin.size === 0
  }

  /**
   * Adds a piece of reasoning, after a blank line if another part begins. Returns the text to stream; `undefined` if a
   * preferred origin has text.
   */
  add(origin: Origin, text: string, part: string | number): string | undefined {
    const known = this.#byOrigin.get(origin)
    const more = known === undefined || known.part === part ? text : `\n\n${text}`
    if (known === undefined) this.#byOrigin.set(origin, { text, part })
    else {
      known.text += more
      known.part = part
    }
    const { rank } = places[origin]
    if (rank > this.#rank) return undefined
    if (text.trim() !== '') this.#rank = rank
    return more
  }

  /** Sets the thoughts in tags, which are only known for certain at the end. */
  settleTags(text: string): void {
    this.#byOrigin.set('tags', { text, part: 0 })
  }

  /** The reasoning of the preferred origin with text. */
  get best(): { readonly origin: Origin; readonly text: string } | undefined {
    return [...this.#byOrigin]
      .map(([origin, { text }]) => ({ origin, text }))
      .filter(({ text }) => text.trim() !== '')
      .sort((a, b) => places[a.origin].rank - places[b.origin].rank)[0]
  }
}

interface CallPart {
  readonly id?: string | undefined
  readonly name?: string | undefined
  /** A piece of the arguments as JSON. */
  readonly json?: string | undefined
  /** The complete arguments, parsed. */
  readonly value?: unknown
}

interface Draft {
  id: string
  name: string
  json: string
  value: unknown
  isClosed: boolean
}

/** Assembles the tool calls of a response from their parts. */
class ToolCalls {
  readonly #drafts: Draft[] = []
  /** The latest call with each index or other key, to which the parts of calls refer. */
  readonly #byKey = new Map<string | number, Draft>()

  get size(): number {
    return this.#drafts.length
  }

  /** All calls with a name; the others cannot be made. */
  get all(): ExtractedCall[] {
    return this.#drafts.filter(isNamed).flatMap(readCalls)
  }

  /** Adds a part of a call. Some providers reuse an index for another call. */
  add(key: string | number, part: CallPart): void {
    const known = this.#byKey.get(key)
    const draft = known === undefined || isOther(known, part) ? this.#begin(key) : known
    const { id, name, json, value } = part
    draft.id ||= id ?? ''
    draft.name ||= name ?? ''
    draft.json += json ?? ''
    draft.value ??= value
  }

  /** Ends one call, or all. Returns the calls that are complete now. */
  close(key?: string | number): ExtractedCall[] {
    const drafts = key === undefined ? this.#drafts : [this.#byKey.get(key)]
    const closed = drafts.filter((draft) => draft !== undefined).filter(({ isClosed }) => !isClosed)
    for (const draft of closed) draft.isClosed = true
    return closed.filter(isNamed).flatMap(readCalls)
  }

  #begin(key: string | number): Draft {
    const draft = { id: '', name: '', json: '', value: undefined, isClosed: false }
    this.#drafts.push(draft)
    this.#byKey.set(key, draft)
    return draft
  }
}

/**
 * Whether a part starts another call. A call starts with its name, except within the arguments of another. Some servers invent
 * an id per part, and some repeat the name. If ids are equal or missing, a part starts another call if the arguments so far are
 * complete and new ones begin.
 */
function isOther(known: Draft, { id, name, json }: CallPart): boolean {
  if (!isFilled(name)) return false
  const begins = /^\s*(?:\{|$)/.test(json ?? '')
  if (known.json !== '' && !isWhole(known.json) && !begins) return false
  if (isFilled(id) && id !== known.id) return known.id !== ''
  if (!isFilled(id) && known.id !== '') return false
  return known.name !== '' && isWhole(known.json) && (known.id === '' || /^\s*\{/.test(json ?? ''))
}

const isWhole = (json: string): boolean => json !== '' && parseJson(json) !== undefined

const isNamed = ({ name }: Draft): boolean => name !== ''

/** Returns the call with parsed arguments; several calls if a server has concatenated their arguments. */
const readCalls = ({ id, name, json, value }: Draft): ExtractedCall[] => {
  const all = value === undefined ? readArguments(json).map((each) => parseJson(each) ?? each) : [value]
  return all.map((given) => ({ id, name: cutName(name), arguments: given }))
}
