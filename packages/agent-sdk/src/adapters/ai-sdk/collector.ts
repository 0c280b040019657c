import type { AssistantModelMessage, FinishReason, ProviderMetadata, TextStreamPart, ToolSet } from 'ai'
import { getErrorMessage } from '../../client/errors.js'
import { TagReader } from '../../extract/tag-reader.js'
import type { ModelStep, ShownReasoning, Spent, Thought, WantedCall } from '../../model/dialogue.js'
import { isRecord, splitTaggedThoughts } from '../../model/rationale.js'

type Part = TextStreamPart<ToolSet>
type Content = Exclude<AssistantModelMessage['content'], string>[number]

/** Of a block of text or reasoning: its beginning, more of it, or its end. */
type Piece = Pick<
  Extract<Part, { type: `${'text' | 'reasoning'}-${'start' | 'delta' | 'end'}` }>,
  'type' | 'id' | 'providerMetadata'
>

/** A block of text or reasoning that grows, with what its provider attaches to it. */
interface Block {
  readonly type: 'text' | 'reasoning'
  text: string
  /** To go back as it came. The latest counts: a signature comes at the end. */
  attached: ProviderMetadata | undefined
  isWhole: boolean
  /** Finds what is thought in tags while the text grows. */
  readonly reader: TagReader | undefined
}

const ends: Partial<Record<FinishReason, ModelStep['end']>> = {
  length: 'length',
  'content-filter': 'filtered',
  error: 'broken',
  interrupted: 'broken',
}

/** Puts together what one answer of a model is, from the parts of its stream. */
export class Collector {
  readonly #content: (
    | Block
    | { readonly type: 'call'; readonly part: Extract<Part, { type: 'tool-call' }> }
  )[] = []
  readonly #open = new Map<string, Block>()
  #end: ModelStep['end'] = 'broken'
  #spent: Spent = { input: 0, output: 0, reasoning: 0 }

  /** Gives the text that it adds to the answer. Throws what the provider reports as an error. */
  push(part: Part): string {
    const { type } = part
    if (type === 'text-start' || type === 'reasoning-start') this.#begin(part)
    else if (type === 'text-delta' || type === 'reasoning-delta') return this.#grow(part, part.text)
    else if (type === 'text-end' || type === 'reasoning-end') return this.#grow(part, '', true)
    else if (type === 'tool-call') this.#content.push({ type: 'call', part })
    else if (type === 'finish-step') this.#finish(part)
    else if (type === 'abort') this.stop()
    else if (type === 'error') throw part.error
    return ''
  }

  stop(): void {
    this.#end = 'stopped'
  }

  /** `isSummary`: the provider writes its reasoning for people to read. */
  step(isSummary: boolean): ModelStep {
    const parts = this.#content.flatMap((each) =>
      each.type === 'text' ? [splitTaggedThoughts(each.text)] : [],
    )
    const isOver = this.#end === 'done' || this.#end === 'length'
    const tagged = parts
      .map(({ reasoning }) => reasoning)
      .join('\n')
      .trim()
    return {
      text: parts.map(({ text }) => text).join(''),
      tagged,
      thoughts: this.#thoughts(),
      shown: tagged === '' ? this.#shown(isSummary) : 'full',
      calls: isOver ? this.#calls() : [],
      spent: this.#spent,
      end: this.#end,
    }
  }

  /**
   * The answer as the model gets it back: what its provider has attached goes with it, unchanged and in order. Reasoning
   * to which nothing is attached goes back only to those who ask for it, and never as text.
   */
  message(wantsReasoning: boolean): AssistantModelMessage | undefined {
    const isHalf = this.#end === 'stopped' || this.#end === 'broken'
    const content = this.#content.flatMap((each): Content[] => {
      if (each.type === 'call') return isHalf ? [] : [toToolCall(each.part)]
      const { attached } = each
      const options = attached === undefined || isHalf ? {} : { providerOptions: attached }
      if (each.type === 'text') {
        const { text } = splitTaggedThoughts(each.text)
        return text === '' && attached === undefined ? [] : [{ type: 'text', text, ...options }]
      }
      // Without what follows it, a thought is refused.
      if (isHalf || !each.isWhole || (attached === undefined && !wantsReasoning)) return []
      return [{ type: 'reasoning', text: each.text, ...options }]
    })
    return content.length === 0 ? undefined : { role: 'assistant', content }
  }

  #thoughts(): Thought[] {
    return this.#content.flatMap((each): Thought[] => {
      if (each.type === 'call') return []
      const { type, text, attached } = each
      if (type === 'text') {
        const reader = new TagReader({ prefilled: false })
        reader.push(text)
        reader.end()
        return reader.thoughts.map((thought) => ({ text: thought, format: 'think_tags' }))
      }
      if (text === '' && attached === undefined) return []
      const format = attached !== undefined && 'anthropic' in attached ? 'anthropic' : 'parsed'
      return [{ text, format, ...(attached && { attached }) }]
    })
  }

  #shown(isSummary: boolean): ShownReasoning | undefined {
    const thoughts = this.#content.filter((each): each is Block => each.type === 'reasoning')
    if (thoughts.some(({ text }) => text.trim() !== '')) return isSummary ? 'summary' : 'full'
    if (thoughts.some(({ attached }) => isSealed(attached))) return 'encrypted'
    return thoughts.length > 0 || this.#spent.reasoning > 0 ? 'omitted' : undefined
  }

  #calls(): WantedCall[] {
    return this.#content.flatMap((each) => {
      if (each.type !== 'call') return []
      const { toolCallId: id, toolName: name, input, invalid, error } = each.part
      const problem =
        invalid === true ? { problem: `the call makes no sense: ${getErrorMessage(error)}` } : {}
      return [{ id, name, input, ...problem }]
    })
  }

  #begin({ type, id, providerMetadata }: Piece): void {
    const blockType = getBlockType(type)
    const reader = blockType === 'text' ? new TagReader({ prefilled: false }) : undefined
    const block: Block = { type: blockType, text: '', attached: providerMetadata, isWhole: false, reader }
    this.#open.set(`${block.type} ${id}`, block)
    this.#content.push(block)
  }

  #grow({ type, id, providerMetadata }: Piece, text: string, isWhole = false): string {
    const block = this.#open.get(`${getBlockType(type)} ${id}`)
    if (block === undefined) return ''
    block.text += text
    block.attached = providerMetadata ?? block.attached
    block.isWhole = isWhole
    const pieces = (isWhole ? block.reader?.flush() : block.reader?.push(text)) ?? []
    return pieces.flatMap((piece) => (piece.type === 'text' ? [piece.text] : [])).join('')
  }

  #finish({ finishReason, rawFinishReason, usage }: Extract<Part, { type: 'finish-step' }>): void {
    const { inputTokens: input = 0, outputTokens: output = 0, outputTokenDetails } = usage
    this.#spent = { input, output, reasoning: outputTokenDetails.reasoningTokens ?? 0 }
    // A stream that ends without saying why was cut off on its way.
    if (finishReason !== 'other' || rawFinishReason !== undefined) this.#end = ends[finishReason] ?? 'done'
  }
}

/** Whether it has thoughts that the provider alone can read: `redactedData` of Anthropic, `reasoningEncryptedContent` of OpenAI. */
const isSealed = (attached: ProviderMetadata = {}): boolean =>
  Object.values(attached)
    .flatMap((fields) => Object.entries(fields))
    .some(([name, value]) => /redacted|encrypted/i.test(name) && value !== null && value !== undefined)

const getBlockType = (type: string): Block['type'] => (type.startsWith('text') ? 'text' : 'reasoning')

/** With the reason that the model gave: it is to see what it wrote. */
const toToolCall = (part: Extract<Part, { type: 'tool-call' }>): Content => ({
  type: 'tool-call',
  toolCallId: part.toolCallId,
  toolName: part.toolName,
  input: isRecord(part.input) ? part.input : {}, // Some providers take nothing else.
  ...(part.providerMetadata && { providerOptions: part.providerMetadata }),
})
