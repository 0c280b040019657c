import { omitUndefined } from '@meup/protocol'
import type { AssistantModelMessage, FinishReason, ProviderMetadata, TextStreamPart, ToolSet } from 'ai'
import { ReasoningStream } from '../../extract/extract-reasoning.js'
import type { StreamEvent } from '../../extract/extraction.js'
import { type Ending, readEnding } from '../../extract/finish-reasons.js'
import { TagReader } from '../../extract/tag-reader.js'
import type { ModelStep, ReasoningVisibility, Spent, Thought, WantedCall } from '../../model/dialogue.js'
import { toDigits } from '../../model/exact-arguments.js'
import { isRecord } from '../../model/rationale.js'
import { type Item, type ReadStep, readStep, type StepBlock } from '../../model/read-step.js'
import type { CallableTools } from '../../model/wanted-calls.js'

type Part = TextStreamPart<ToolSet>
type Content = Exclude<AssistantModelMessage['content'], string>[number]
type BlockType = StepBlock<ProviderMetadata>['type']
/** A call as parsed, even if `ai` considers it invalid. */
type ToolCallPart = Pick<
  Extract<Part, { type: 'tool-call' }>,
  'toolCallId' | 'toolName' | 'input' | 'providerMetadata'
>

/** A part of the stream that begins, continues or ends a block of text or reasoning. */
type Piece = Pick<
  Extract<Part, { type: `${'text' | 'reasoning'}-${'start' | 'delta' | 'end'}` }>,
  'type' | 'id' | 'providerMetadata'
>

/**
 * Meanings of the finish reasons of `ai`, used if the provider's own reason is missing or unknown. `content-filter` then means
 * that the model itself refused, in its text.
 */
const endings: Partial<Record<FinishReason, Ending>> = {
  stop: 'whole',
  'tool-calls': 'whole',
  length: 'cut',
  'content-filter': 'whole',
}
const ends = { whole: 'done', cut: 'length', refused: 'filtered', failed: 'broken' } as const

/** Collects the parts of one step's stream, and decodes them when it ends. */
export class Collector {
  readonly #tools: CallableTools
  readonly #blocks: StepBlock<ProviderMetadata>[] = []
  readonly #open = new Map<string, StepBlock<ProviderMetadata>>()
  /** Parses events that `ai` rejects as invalid. */
  readonly #odd = new ReasoningStream()
  #end: ModelStep['end'] = 'broken'
  #reason: string | undefined
  #spent: Spent = { input: 0, output: 0, reasoning: 0 }
  #read: ReadStep<ProviderMetadata> | undefined

  constructor(tools: CallableTools) {
    this.#tools = tools
  }

  /** Returns the text that the part adds to the answer. Throws errors reported by the provider. */
  push(part: Part): string {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#begin(getBlockType(part.type), part.id, part.providerMetadata)
        return ''
      case 'text-delta':
      case 'reasoning-delta':
        return this.#grow(part, part.text)
      case 'text-end':
      case 'reasoning-end':
        return this.#grow(part, '', true)
      case 'tool-input-start':
        this.#begin('call', part.id, part.providerMetadata, part.toolName)
        return ''
      case 'tool-input-delta':
        this.#addArguments(part.id, part.delta)
        return ''
      case 'tool-call':
        this.#endCall(part)
        return ''
      case 'finish-step':
        this.#finish(part)
        return ''
      case 'error':
        return this.#recover(part.error)
      default:
        if (part.type === 'abort') this.stop()
        return ''
    }
  }

  /** Whether the text contained a thought without an opening tag; `undefined` = there was no text. */
  get isUnmarked(): boolean | undefined {
    const texts = this.#blocks.filter(({ type, text }) => type === 'text' && text.trim() !== '')
    return texts.length === 0 ? undefined : texts.some(({ reader }) => reader.isUnmarked)
  }

  stop(): void {
    this.#end = 'stopped'
  }

  /** `isSummary`: the reasoning is a summary for readers, not raw. */
  step(isSummary: boolean): ModelStep {
    const { items, end } = this.#readStep()
    const texts = items.filter((each) => each.type === 'text')
    const tagged = texts
      .map((each) => each.tagged)
      .join('\n')
      .trim()
    return {
      text: texts.map(({ text }) => text).join(''),
      tagged,
      thoughts: items.flatMap(getThoughts),
      shown: tagged === '' ? this.#shown(isSummary) : 'full',
      calls: items.flatMap((each) => (each.type === 'call' ? each.calls : [])),
      spent: this.#spent,
      end,
      ...omitUndefined({ reason: this.#reason }),
    }
  }

  /**
   * The output as a message for the next request, with the provider's metadata unchanged and in order; `undefined` = it is
   * empty.
   */
  message(): AssistantModelMessage | undefined {
    const { items, end } = this.#readStep()
    const isStopped = end === 'stopped'
    const content = items.flatMap((each): Content[] => {
      const { attached } = each
      const options = attached === undefined || isStopped ? {} : { providerOptions: attached }
      if (each.type === 'call')
        return each.calls.map((call, at) => ({ ...toToolCall(call), ...(at === 0 && options) }))
      const { type, text } = each
      if (type === 'text') return text === '' && attached === undefined ? [] : [{ type, text, ...options }]
      // A thought that was cut off is left out: providers refuse a thought without the content that followed it.
      if (isStopped || !each.isWhole) return []
      return [{ type, text, ...options }]
    })
    return content.length === 0 || end === 'broken' ? undefined : { role: 'assistant', content }
  }

  /** Reads the collected blocks at the first call, which must be at the end of the stream. */
  #readStep(): ReadStep<ProviderMetadata> {
    const decoded = {
      blocks: this.#blocks,
      end: this.#end,
      ...omitUndefined({ reason: this.#reason }),
    }
    this.#read ??= readStep(decoded, this.#tools)
    return this.#read
  }

  #shown(isSummary: boolean): ReasoningVisibility | undefined {
    const thoughts = this.#blocks.filter(({ type }) => type === 'reasoning')
    if (thoughts.some(({ text }) => text.trim() !== '')) return isSummary ? 'summary' : 'full'
    if (thoughts.some(({ attached }) => isSealed(attached))) return 'encrypted'
    return thoughts.length > 0 || this.#spent.reasoning > 0 ? 'omitted' : undefined
  }

  #begin(type: BlockType, id: string, attached?: ProviderMetadata, name = ''): StepBlock<ProviderMetadata> {
    const reader = new TagReader({ prefilled: false })
    const block = { type, id, name, text: '', attached, isWhole: false, reader }
    this.#open.set(`${type} ${id}`, block)
    this.#blocks.push(block)
    return block
  }

  #grow({ type, id, providerMetadata }: Piece, text: string, isWhole = false): string {
    const block = this.#open.get(`${getBlockType(type)} ${id}`)
    if (block === undefined) return ''
    block.text += text
    block.attached = providerMetadata ?? block.attached
    block.isWhole = isWhole
    return block.type === 'text' ? this.#say(block, text, isWhole) : ''
  }

  /** Adds text to the reader of a block. Returns the text, from this or earlier calls, that is now certainly not a thought. */
  #say({ reader }: StepBlock<ProviderMetadata>, text: string, isWhole: boolean): string {
    const pieces = isWhole ? reader.flush() : reader.push(text)
    return pieces.flatMap((piece) => (piece.type === 'text' ? [piece.text] : [])).join('')
  }

  #addArguments(id: string, text: string): void {
    const block = this.#open.get(`call ${id}`)
    if (block !== undefined) block.text += text
  }

  /** Ends a call. Usually its arguments have already arrived as text; otherwise they are encoded from `input`. */
  #endCall({ toolCallId: id, toolName, input, providerMetadata }: ToolCallPart): void {
    const block = this.#open.get(`call ${id}`) ?? this.#begin('call', id, undefined, toolName)
    this.#open.delete(`call ${id}`)
    block.text ||= typeof input === 'string' ? input : (JSON.stringify(input) ?? '')
    block.attached = providerMetadata ?? block.attached
    block.isWhole = true
  }

  #finish({ finishReason, rawFinishReason: reason, usage }: Extract<Part, { type: 'finish-step' }>): void {
    const { inputTokens: input = 0, outputTokens: output = 0, outputTokenDetails } = usage
    this.#spent = { input, output, reasoning: outputTokenDetails.reasoningTokens ?? 0 }
    this.#reason = reason
    const ending = readEnding(reason ?? '') ?? endings[finishReason]
    // An unknown finish reason means that the output may be incomplete. A missing one counts as a failure: the stream was cut
    // off.
    const isUnsure = ending === undefined && finishReason === 'other' && Boolean(reason)
    this.#end = isUnsure ? 'unsure' : ends[ending ?? 'failed']
  }

  /** Parses an event in a form that `ai` does not expect. Ignores a missing end of the stream; rethrows other errors. */
  #recover(error: unknown): string {
    const { name, value, data } = isRecord(error) ? error : {}
    if (name === 'AI_InvalidResponseDataError' && data === undefined) return ''
    const events = name === 'AI_TypeValidationError' ? this.#odd.push(value) : []
    if (events.length === 0) throw error
    return events.map((event) => this.#addOdd(event)).join('')
  }

  #addOdd(event: StreamEvent): string {
    if (event.type === 'usage') return ''
    if (event.type === 'toolCall') {
      const { id, name: toolName, arguments: input } = event
      this.#endCall({ toolCallId: id || `odd-${this.#blocks.length}`, toolName, input })
      return ''
    }
    const block = this.#open.get(`${event.type} odd`) ?? this.#begin(event.type, 'odd')
    block.text += event.text
    return event.type === 'text' ? this.#say(block, event.text, false) : ''
  }
}

function getThoughts(item: Item<ProviderMetadata>): Thought[] {
  if (item.type === 'call') return []
  if (item.type === 'text') return item.thoughts.map((text) => ({ text, format: 'think_tags' }))
  const { text, attached } = item
  if (text === '' && attached === undefined) return []
  const format = attached !== undefined && 'anthropic' in attached ? 'anthropic' : 'parsed'
  return [{ text, format, ...(attached && { attached }) }]
}

/**
 * Whether the block has thoughts that only the provider can read: `redactedData` of Anthropic, `reasoningEncryptedContent` of
 * OpenAI.
 */
const isSealed = (attached: ProviderMetadata = {}): boolean =>
  Object.values(attached)
    .flatMap((fields) => Object.entries(fields))
    .some(([name, value]) => /redacted|encrypted/i.test(name) && value !== null && value !== undefined)

const getBlockType = (type: string): 'text' | 'reasoning' => (type.startsWith('text') ? 'text' : 'reasoning')

/** Converts a call to the form of `ai`. Keeps the argument with the reason, so that the model sees its call unchanged. */
const toToolCall = ({ id, name, input }: WantedCall): Content => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: name,
  input: isRecord(input) ? toDigits(input) : {}, // Some providers only accept an object.
})
