import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { ExtractedCall, Format } from '../extract/index.js'
import { TranscriptError } from './errors.js'

/** Whether prompts include a commit. `PINNED` commits are kept even if a prompt is shortened. */
export const Priority = { PINNED: 'pinned', NORMAL: 'normal', SKIP: 'skip' } as const
export type Priority = (typeof Priority)[keyof typeof Priority]

/** Sets the priority of a commit. */
export const Annotation = Type.Object(
  { priority: Type.Enum(Priority), reason: Type.Optional(Type.String()) },
  { additionalProperties: false },
)
export type Annotation = Static<typeof Annotation>

/** The error code for invalid content: passed by a caller, or part of a stored record. */
type Invalid = 'invalid_content' | 'invalid_record'

/** Throws if the value does not match the schema, with the path of the first mismatch. */
export function mustFit(schema: TSchema, value: unknown, what: string, code: Invalid): void {
  const error = Value.Errors(schema, value).First()
  if (error !== undefined)
    throw new TranscriptError(code, { path: `${what}${error.path}`, problem: error.message })
}

const closed = { additionalProperties: false }
/** Name of the speaker; absent = the usual speaker of this content type. */
const from = Type.Optional(Type.String({ minLength: 1 }))

/** How the reasoning was received: in a field, as plain text, in tags, or in Anthropic's blocks. */
const format = Type.Unsafe<Format>(
  Type.Union([
    Type.Literal('parsed'),
    Type.Literal('raw'),
    Type.Literal('think_tags'),
    Type.Literal('anthropic'),
  ]),
)

/** A tool call requested by a model. */
const toolCall = Type.Unsafe<ExtractedCall>(
  Type.Object({ id: Type.String(), name: Type.String(), arguments: Type.Unknown() }, closed),
)

/** Items that a provider requires back unchanged: signed or encrypted thoughts, which are never displayed. */
const Replay = Type.Object(
  {
    /** The field of the response that contained the items; requests send them back in the same field. */
    source: Type.String(),
    /** The provider that the items have to be sent to. */
    provider: Type.Optional(Type.String()),
    /** The items in the order received. */
    items: Type.Array(Type.Unknown(), { minItems: 1 }),
    /** Hash of the reasoning commit with the same thought. */
    carries: Type.Optional(Type.String()),
  },
  closed,
)
export type Replay = Static<typeof Replay>

const UserContent = Type.Object({ content_type: Type.Literal('user'), text: Type.String(), from }, closed)
export type UserContent = Static<typeof UserContent>

const ReasoningContent = Type.Object(
  { content_type: Type.Literal('reasoning'), text: Type.String(), format, from },
  closed,
)
export type ReasoningContent = Static<typeof ReasoningContent>

const AssistantContent = Type.Object(
  {
    content_type: Type.Literal('assistant'),
    text: Type.String(),
    toolCalls: Type.Optional(Type.Array(toolCall)),
    replay: Type.Optional(Replay),
  },
  closed,
)
export type AssistantContent = Static<typeof AssistantContent>

/** The result of a tool call; `name`: the tool. */
const ToolContent = Type.Object(
  {
    content_type: Type.Literal('tool'),
    callId: Type.String(),
    name: Type.String(),
    text: Type.String(),
    isError: Type.Optional(Type.Boolean()),
  },
  closed,
)
export type ToolContent = Static<typeof ToolContent>

/** A message of a prompt, of which possibly only the hash is stored. */
const SentMessage = Type.Object(
  {
    role: Type.String(),
    /** Number of characters of the message as JSON. */
    chars: Type.Integer({ minimum: 0 }),
    /** SHA-256 of the message as JSON, in hex. */
    hash: Type.String(),
    /** The message itself, if prompts are stored. */
    message: Type.Optional(Type.Unknown()),
  },
  closed,
)
export type SentMessage = Static<typeof SentMessage>

/** The prompt of one request. Messages that the previous prompt of the turn begins with are not repeated: see `earlier`. */
const PromptContent = Type.Object(
  {
    content_type: Type.Literal('prompt'),
    /** A description in one line. */
    text: Type.String(),
    model: Type.String(),
    provider: Type.Optional(Type.String()),
    /** Base address of the server, unless it is the provider's own. */
    baseURL: Type.Optional(Type.String()),
    settings: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    /** Number of messages at the beginning that the previous prompt of the turn contains too. */
    earlier: Type.Integer({ minimum: 0 }),
    messages: Type.Array(SentMessage),
    tools: Type.Object(
      {
        count: Type.Integer({ minimum: 0 }),
        hash: Type.String(),
        /** The tools, if prompts are stored and the tools are not those of the previous prompt. */
        offered: Type.Optional(Type.Array(Type.Unknown())),
      },
      closed,
    ),
  },
  closed,
)
export type PromptContent = Static<typeof PromptContent>

/** A summary of messages that are too old for an agent's prompts. */
const SummaryContent = Type.Object(
  {
    content_type: Type.Literal('summary'),
    text: Type.String(),
    /** Epoch of the log with the messages: the id that changes when the log is replaced. */
    epoch: Type.String(),
    /** Seq of the last summarized message. */
    through: Type.Integer({ minimum: 0 }),
    /** Seq of the log up to which retractions and erasures are considered. */
    asOf: Type.Integer({ minimum: 0 }),
  },
  closed,
)
export type SummaryContent = Static<typeof SummaryContent>

/** The reason why a question was not answered. */
const ErrorContent = Type.Object({ content_type: Type.Literal('error'), text: Type.String() }, closed)
export type ErrorContent = Static<typeof ErrorContent>

export type Content =
  | UserContent
  | ReasoningContent
  | AssistantContent
  | ToolContent
  | PromptContent
  | SummaryContent
  | ErrorContent
export type ContentType = Content['content_type']

const schemas = {
  user: UserContent,
  reasoning: ReasoningContent,
  assistant: AssistantContent,
  tool: ToolContent,
  prompt: PromptContent,
  summary: SummaryContent,
  error: ErrorContent,
} as const

/** Throws if the content is invalid, with the path of the first mismatch. */
export function checkContent(content: Content, code: Invalid = 'invalid_content'): void {
  const type = content.content_type
  const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined
  const problem = `${String(type)} is none of ${Object.keys(schemas).join(', ')}`
  if (schema === undefined) throw new TranscriptError(code, { path: 'content_type', problem })
  mustFit(schema, content, type, code)
}

export interface ContentHints {
  readonly default_priority: Priority
  readonly default_role: 'user' | 'assistant' | 'tool'
  /** 0 to 100. Content with a lower value is omitted first from a long prompt. */
  readonly compression_priority: number
}

/** The role of each content type in prompts. Prompts, summaries and errors are not part of the conversation. */
export const contentHints = {
  user: { default_priority: 'normal', default_role: 'user', compression_priority: 50 },
  reasoning: { default_priority: 'skip', default_role: 'assistant', compression_priority: 40 },
  assistant: { default_priority: 'normal', default_role: 'assistant', compression_priority: 50 },
  tool: { default_priority: 'normal', default_role: 'tool', compression_priority: 30 },
  prompt: { default_priority: 'skip', default_role: 'user', compression_priority: 0 },
  summary: { default_priority: 'skip', default_role: 'assistant', compression_priority: 0 },
  error: { default_priority: 'skip', default_role: 'assistant', compression_priority: 0 },
} as const satisfies Readonly<Record<ContentType, ContentHints>>

const tokens = Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])

/** Token counts of one call of a model; `null` = not reported. */
export const Usage = Type.Object(
  {
    input: tokens,
    /** Tokens of the output, including reasoning. */
    output: tokens,
    reasoning: tokens,
  },
  { additionalProperties: false },
)
export type Usage = Static<typeof Usage>
