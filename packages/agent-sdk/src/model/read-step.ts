import { readTextCalls } from '../extract/call-forms.js'
import { parseJson } from '../extract/json-text.js'
import { TagReader } from '../extract/tag-reader.js'
import type { ModelStep, WantedCall } from './dialogue.js'
import { isRecord } from './rationale.js'
import { type CallableTools, findWrittenCalls, normaliseCall } from './wanted-calls.js'

/** A block of a model's output: a text, a thought, or a call with its arguments as text. */
export interface StepBlock<Attached> {
  readonly type: 'text' | 'reasoning' | 'call'
  readonly id: string
  /** The name of the called tool; empty for other blocks. */
  readonly name: string
  text: string
  /** Metadata of the block. The provider requires it back unchanged. */
  attached: Attached | undefined
  isWhole: boolean
  /** Separates thoughts from the text while it arrives. */
  readonly reader: TagReader
}

/** A block after thoughts were separated and calls normalized. */
export type Item<Attached> =
  | {
      readonly type: 'text'
      readonly text: string
      /** The thoughts in tags as received, joined. */
      readonly tagged: string
      readonly thoughts: readonly string[]
      readonly attached: Attached | undefined
    }
  | (Pick<StepBlock<Attached>, 'text' | 'attached' | 'isWhole'> & { readonly type: 'reasoning' })
  | { readonly type: 'call'; readonly calls: readonly WantedCall[]; readonly attached: Attached | undefined }

export interface DecodedStep<Attached> extends Pick<ModelStep, 'end' | 'reason'> {
  readonly blocks: readonly StepBlock<Attached>[]
}

export interface ReadStep<Attached> extends Pick<ModelStep, 'end'> {
  readonly items: readonly Item<Attached>[]
}

/** Interprets a model's output: separates thoughts from texts, normalizes calls, and determines how the output ended. */
export function readStep<Attached>(decoded: DecodedStep<Attached>, tools: CallableTools): ReadStep<Attached> {
  const { blocks } = decoded
  const calls = blocks.filter(({ type }) => type === 'call')
  const end = decideEnd(decoded, calls)
  const given = calls.filter(isWholeCall)
  const mayCall = end === 'done' || end === 'length' || end === 'unsure'
  const separated = blocks.map(separate)
  const written = mayCall && given.length === 0 ? findWritten(separated, tools) : []
  const isCalling = mayCall && (given.length > 0 || written.length > 0)
  const ids = new Set<string>()
  const items = separated.map(({ block, ...said }): Item<Attached> => {
    const { type, text, attached, isWhole } = block
    if (type === 'reasoning') return { type, text, attached, isWhole }
    if (type === 'text')
      return { type, ...(mayCall ? toAnswer(said, isCalling, written.length > 0) : said), attached }
    // Incomplete calls are neither made nor sent back to the model.
    return { type, attached, calls: mayCall && isWholeCall(block) ? normaliseCall(block, tools, ids) : [] }
  })
  const added = { type: 'call', calls: written, attached: undefined } as const
  return { end, items: written.length === 0 ? items : [...items, added] }
}

/** Whether a call is complete. If the connection broke before its end was announced, valid JSON suffices. */
const isWholeCall = ({ isWhole, text }: Pick<StepBlock<unknown>, 'isWhole' | 'text'>): boolean =>
  isWhole || isRecord(parseJson(text))

/**
 * Determines how the output ended. If only the end of the stream is missing and all calls are complete, it counts as complete.
 */
function decideEnd(
  { end, reason }: Pick<ModelStep, 'end' | 'reason'>,
  calls: readonly Pick<StepBlock<unknown>, 'text'>[],
): ModelStep['end'] {
  const areWhole = calls.length > 0 && calls.every(({ text }) => isRecord(parseJson(text)))
  return end === 'broken' && reason === undefined && areWhole ? 'done' : end
}

/** A block of the output, with its text separated into answer, thoughts in tags, and calls. */
interface Separated<Attached> extends Said {
  readonly block: StepBlock<Attached>
}

interface Said {
  readonly text: string
  readonly tagged: string
  readonly thoughts: readonly string[]
  /** The end of the text, from the first mark of a call. */
  readonly called: string
}

function separate<Attached>(block: StepBlock<Attached>): Separated<Attached> {
  const { reader } = block
  const { text, reasoning: tagged, called } = reader.end()
  return { block, text, tagged, thoughts: reader.thoughts, called }
}

/** Finds calls that a model wrote as text: at the end of its answer or, if there is no answer, of its thoughts. */
function findWritten<Attached>(
  separated: readonly Separated<Attached>[],
  tools: CallableTools,
): WantedCall[] {
  const texts = separated.filter(({ block }) => block.type === 'text')
  const first = texts.findIndex(({ called }) => called !== '')
  const isAtEnd = first < 0 || texts.slice(first + 1).every(({ text }) => text.trim() === '')
  const text = texts.map((each) => each.text).join('')
  if (text.trim() !== '' || first >= 0)
    return isAtEnd ? findWrittenCalls(text, texts.map(({ called }) => called).join(''), tools) : []
  const thought = separated.findLast(({ block }) => block.type === 'reasoning')?.block.text ?? ''
  const reader = new TagReader({ prefilled: true })
  reader.push(thought)
  const { reasoning, called } = reader.end()
  return called === '' ? [] : findWrittenCalls(`${reasoning}…`, called, tools)
}

/** Removes the text of calls if they are made; otherwise treats it as part of the answer. */
function toAnswer(
  { text, tagged, thoughts, called }: Said,
  isCalling: boolean,
  areWritten: boolean,
): Omit<Said, 'called'> {
  if (isCalling && (areWritten || readTextCalls(called || text) !== undefined))
    return { text: readTextCalls(text) === undefined ? text : '', tagged, thoughts }
  const reader = new TagReader({ prefilled: false, findsCalls: false })
  reader.push(called)
  const rest = reader.end()
  return {
    text: text + rest.text,
    tagged: [tagged, rest.reasoning].filter((each) => each !== '').join('\n\n'),
    thoughts: [...thoughts, ...reader.thoughts],
  }
}
