import type { AssistantModelMessage, ModelMessage, ToolModelMessage, ToolResultPart } from 'ai'
import { cutMiddle } from '../../model/results.js'
import type { Terms } from './refusals.js'

/** A message, with the model that wrote it. */
interface Entry {
  readonly message: ModelMessage
  /** Absent: written by a person or a tool, or by the model that the message is sent to. */
  readonly by?: object
}

type AssistantParts = Exclude<AssistantModelMessage['content'], string>

/** The model that messages are sent to. */
interface Recipient {
  readonly terms: Terms
  /** Whether the model accepts files of this type in tool results. */
  takes(mediaType: string): boolean
}

/** The messages of a conversation that fit in a request. */
interface Selection {
  readonly messages: readonly ModelMessage[]
  /** Number of omitted older messages. */
  readonly leftOut: number
  readonly chars: number
}

/** Minimum characters to which the result of a tool is shortened. */
const minResultChars = 1000
/** Maximum characters that a file adds to the size of a request, however long its base64 is. */
const fileChars = 4000

/** The messages before a question, the question, and the later steps. Selects the part that fits the context of each model. */
export class ModelConversation {
  #earlier: readonly Entry[]
  readonly #turn: Entry[]

  /** The last user message is the question. */
  constructor(messages: readonly ModelMessage[]) {
    const entries = messages.map((message) => ({ message }))
    const question = messages.findLastIndex(({ role }) => role === 'user')
    this.#earlier = entries.slice(0, Math.max(0, question))
    this.#turn = entries.slice(Math.max(0, question))
  }

  /** Inserts earlier messages before all others. */
  recall(messages: readonly ModelMessage[]): void {
    this.#earlier = [...messages.map((message) => ({ message })), ...this.#earlier]
  }

  /** `by`: the model that wrote the message. */
  add(message: ModelMessage, by?: object): void {
    this.#turn.push({ message, ...(by && { by }) })
  }

  /**
   * Shortens the conversation to a number of characters as far as possible: first drops the oldest messages before the
   * question, then the oldest steps, then cuts the middle of long results.
   */
  select(model: Recipient, maxChars: number): Selection {
    const show = (entries: readonly Entry[]): Item[] =>
      entries.flatMap((entry) => {
        const message = showTo(model, entry)
        return message === undefined ? [] : [{ message, chars: measure(message) }]
      })
    const [earlier, turn] = [show(this.#earlier), show(this.#turn)]
    const all = [...earlier, ...turn]
    let chars = all.reduce((sum, each) => sum + each.chars, 0)
    const gone = new Set<Item>()
    for (const group of [...groupExchanges(earlier), ...groupSteps(turn).slice(0, -1)]) {
      if (chars <= maxChars) break
      for (const item of group) gone.add(item)
      chars -= group.reduce((sum, each) => sum + each.chars, 0)
    }
    const kept = all.filter((item) => !gone.has(item))
    for (let length = 65_536; length >= minResultChars && chars > maxChars; length /= 2) {
      for (const [index, { message, chars: before }] of kept.entries()) {
        if (message.role !== 'tool' || chars <= maxChars) continue
        const shorter = shortenResults(message, Math.floor(length))
        const item = { message: shorter, chars: measure(shorter) }
        kept[index] = item
        chars += item.chars - before
      }
    }
    return { messages: kept.map(({ message }) => message), leftOut: gone.size, chars }
  }
}

interface Item {
  readonly message: ModelMessage
  readonly chars: number
}

/** Groups that begin with a message of another participant. */
const groupExchanges = (items: readonly Item[]): Item[][] => group(items, 'user')
/** A step is a model's output with the results of its calls. User messages are never dropped. */
const groupSteps = (items: readonly Item[]): Item[][] =>
  group(
    items.filter(({ message }) => message.role !== 'user'),
    'assistant',
  )

function group(items: readonly Item[], first: ModelMessage['role']): Item[][] {
  const groups: Item[][] = []
  for (const item of items) {
    const last = groups.at(-1)
    if (last === undefined || item.message.role === first) groups.push([item])
    else last.push(item)
  }
  return groups
}

/**
 * Adapts a message to a model. A provider's metadata is only sent back to the model that it came from; reasoning without
 * metadata only to models that require it.
 */
function showTo(model: Recipient, { message, by = model }: Entry): ModelMessage | undefined {
  if (message.role === 'tool') return withoutMedia(message, model)
  if (message.role !== 'assistant') return message
  // Blank texts are left out, because some providers refuse them.
  if (typeof message.content === 'string') return message.content.trim() === '' ? undefined : message
  const isOwn = by === model
  const content = message.content.flatMap((part): AssistantParts => {
    const isAttached = isOwn && 'providerOptions' in part && part.providerOptions !== undefined
    if (part.type === 'reasoning' && !isAttached && !(isOwn && model.terms.returnsReasoning)) return []
    if (part.type === 'text' && !isAttached && part.text.trim() === '') return []
    return isOwn || !('providerOptions' in part) ? [part] : [{ ...part, providerOptions: {} }]
  })
  return content.length === 0 ? undefined : { ...message, content }
}

type Output = ToolResultPart['output']

const mapOutputs = (message: ToolModelMessage, change: (output: Output) => Output): ToolModelMessage => ({
  ...message,
  content: message.content.map((part) =>
    part.type === 'tool-result' ? { ...part, output: change(part.output) } : part,
  ),
})

const shortenResults = (message: ToolModelMessage, maxChars: number): ToolModelMessage =>
  mapOutputs(message, (output) => {
    if (output.type === 'text' || output.type === 'error-text')
      return { ...output, value: cutMiddle(output.value, maxChars) }
    if (output.type !== 'content') return output
    const value = output.value.map((part) =>
      part.type === 'text' ? { ...part, text: cutMiddle(part.text, maxChars) } : part,
    )
    return { ...output, value }
  })

/** Removes files that a model does not accept; the text of the result still names them. */
const withoutMedia = (message: ToolModelMessage, model: Recipient): ToolModelMessage =>
  mapOutputs(message, (output) => {
    if (output.type !== 'content') return output
    const value = output.value.filter((part) => !('mediaType' in part) || model.takes(String(part.mediaType)))
    return { ...output, value }
  })

export const countChars = (messages: readonly ModelMessage[]): number =>
  messages.reduce((sum, each) => sum + measure(each), 0)

/** Number of characters of a message as JSON. */
const measure = (message: ModelMessage): number =>
  JSON.stringify(message, (key, value) =>
    key === 'data' && typeof value === 'string' && value.length > fileChars ? '.'.repeat(fileChars) : value,
  ).length

/** Informs the model that messages are omitted. */
const leftOutLine = '(What was said before this is not shown.)'
/** Separates a tool result from a following user message, for providers that require alternating roles. */
const noted = 'Noted.'

/**
 * Merges messages so that roles alternate, beginning with a user message. `system` is set if the prompt is not sent as a
 * separate message.
 */
export function toTurns(
  messages: readonly ModelMessage[],
  { takesUserAfterTool }: Terms,
  { hasLeftOut, system }: { readonly hasLeftOut: boolean; readonly system?: string | undefined },
): ModelMessage[] {
  const isBegun = messages[0]?.role === 'assistant' || hasLeftOut
  const beginning = [system, isBegun ? leftOutLine : undefined].filter((text) => text !== undefined)
  const all: ModelMessage[] = [
    ...beginning.map((content) => ({ role: 'user' as const, content })),
    ...messages,
  ]
  return all.reduce<ModelMessage[]>((turns, message) => {
    const last = turns.at(-1)
    const joined = last && join(last, message)
    if (joined !== undefined) turns.splice(-1, 1, joined)
    else if (!takesUserAfterTool && last?.role === 'tool' && message.role === 'user')
      turns.push({ role: 'assistant', content: noted }, message)
    else turns.push(message)
    return turns
  }, [])
}

/** Merges two adjacent messages; `undefined` if their roles differ. */
function join(first: ModelMessage, second: ModelMessage): ModelMessage | undefined {
  if (first.role === 'user' && second.role === 'user')
    return { role: 'user', content: `${String(first.content)}\n\n${String(second.content)}` }
  if (first.role === 'tool' && second.role === 'tool')
    return { ...first, content: [...first.content, ...second.content] }
  if (first.role !== 'assistant' || second.role !== 'assistant') return undefined
  if (typeof first.content === 'string' && typeof second.content === 'string')
    return { role: 'assistant', content: `${first.content}\n\n${second.content}` }
  const [before, after] = [toParts(first), toParts(second)]
  const [last, next] = [before.at(-1), after[0]]
  // Texts with provider metadata may be signed, so they stay unchanged.
  if (last?.type !== 'text' || next?.type !== 'text' || last.providerOptions || next.providerOptions)
    return { role: 'assistant', content: [...before, ...after] }
  const text = { ...last, text: `${last.text}\n\n${next.text}` }
  return { role: 'assistant', content: [...before.slice(0, -1), text, ...after.slice(1)] }
}

const toParts = (said: AssistantModelMessage | string): AssistantParts => {
  const content = typeof said === 'string' ? said : said.content
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}
