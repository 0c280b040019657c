import { readTextCalls } from '../extract/call-forms.js'
import { parseJson } from '../extract/json-text.js'
import { TagReader } from '../extract/tag-reader.js'
import type { ModelStep, WantedCall } from './dialogue.js'
import { isRecord } from './rationale.js'
import { type CallableTools, findWrittenCalls, normaliseCall } from './wanted-calls.js'

/** A decoded block of one step: a text, a thought, or the arguments of a call. */
export interface StepBlock<Attached> {
  readonly type: 'text' | 'reasoning' | 'call'
  readonly id: string
  /** The name of the called tool. */
  readonly name: string
  text: string
  /** Metadata that the provider wants back with the block, unchanged. */
  attached: Attached | undefined
  isWhole: boolean
  /** Separates thoughts from the text as it streams in. */
  readonly reader: TagReader
}

/** A block after separation and normalization. */
export type Item<Attached> =
  | {
      readonly type: 'text'
      readonly text: string
      /** The thoughts in tags, joined and verbatim. */
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

/** Interprets a model's output: separates texts, normalizes calls, and decides whether the model answers or calls. */
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
    // Incomplete calls are not sent back.
    if (type === 'text')
      return { type, ...(mayCall ? toAnswer(said, isCalling, written.length > 0) : said), attached }
    return { type, attached, calls: mayCall && isWholeCall(block) ? normaliseCall(block, tools, ids) : [] }
  })
  const added = { type: 'call', calls: written, attached: undefined } as const
  return { end, items: written.length === 0 ? items : [...items, added] }
}

/** A connection may break before the end of a call is announced. */
const isWholeCall = ({ isWhole, text }: Pick<StepBlock<unknown>, 'isWhole' | 'text'>): boolean =>
  isWhole || isRecord(parseJson(text))

/** A missing end of the step is acceptable if its calls are complete. */
function decideEnd(
  { end, reason }: Pick<ModelStep, 'end' | 'reason'>,
  calls: readonly Pick<StepBlock<unknown>, 'text'>[],
): ModelStep['end'] {
  const areWhole = calls.length > 0 && calls.every(({ text }) => isRecord(parseJson(text)))
  return end === 'broken' && reason === undefined && areWhole ? 'done' : end
}

/** A block with its separated parts. */
interface Separated<Attached> extends Said {
  readonly block: StepBlock<Attached>
}

interface Said {
  readonly text: string
  readonly tagged: string
  readonly thoughts: readonly string[]
  /** The end of the text from the mark of a call on. */
  readonly called: string
}

function separate<Attached>(block: StepBlock<Attached>): Separated<Attached> {
  const { reader } = block
  const { text, reasoning: tagged, called } = reader.end()
  return { block, text, tagged, thoughts: reader.thoughts, called }
}

/** Calls that a model wrote as text: at the end of its answer, or of its thoughts if there is no answer. */
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

/** Removes calls and their marks if calls are made; otherwise restores them as text. */
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
