import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Format, ToolCall } from '../extract/index.js'
import { TranscriptError, type TranscriptErrorCode } from './errors.js'

/** Whether prompts show a commit. `PINNED` commits are also kept when a prompt is shortened. */
export const Priority = { PINNED: 'pinned', NORMAL: 'normal', SKIP: 'skip' } as const
export type Priority = (typeof Priority)[keyof typeof Priority]

/** Sets the priority of a commit. */
export const Annotation = Type.Object(
  { priority: Type.Enum(Priority), reason: Type.Optional(Type.String()) },
  { additionalProperties: false },
)
export type Annotation = Static<typeof Annotation>

/** Throws, and says where the value is not what the schema asks for. */
export function mustFit(schema: TSchema, value: unknown, what: string, code: TranscriptErrorCode): void {
  const error = Value.Errors(schema, value).First()
  if (error !== undefined) throw new TranscriptError(code, `${what}${error.path}: ${error.message}`)
}

const closed = { additionalProperties: false }
/** The speaker, where there are several; absent = the one that the type stands for. */
const from = Type.Optional(Type.String({ minLength: 1 }))

/** Where reasoning was read: a field, text taken as it is, tags, blocks of Anthropic. */
const format = Type.Unsafe<Format>(
  Type.Union([
    Type.Literal('parsed'),
    Type.Literal('raw'),
    Type.Literal('think_tags'),
    Type.Literal('anthropic'),
  ]),
)

/** A call that the model asks for. */
const toolCall = Type.Unsafe<ToolCall>(
  Type.Object({ id: Type.String(), name: Type.String(), arguments: Type.Unknown() }, closed),
)

/** What a provider demands back to the letter: signed or encrypted thoughts, never for display. */
const Replay = Type.Object(
  {
    /** Where in a response they were found, which is where they go in a request. */
    source: Type.String(),
    /** The provider that they belong to; no other can read them. */
    provider: Type.Optional(Type.String()),
    /** In the order in which they came. */
    items: Type.Array(Type.Unknown(), { minItems: 1 }),
    /** Hash of the reasoning commit whose text they carry as well. */
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

/** What a tool gave back; `name` is the tool's. */
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

/** A message that a model was sent. */
const SentMessage = Type.Object(
  {
    role: Type.String(),
    /** Characters of it as JSON. */
    chars: Type.Integer({ minimum: 0 }),
    /** SHA-256 of it as JSON, in hex. */
    hash: Type.String(),
    /** The message itself, where prompts are kept. */
    message: Type.Optional(Type.Unknown()),
  },
  closed,
)
export type SentMessage = Static<typeof SentMessage>

/** What a model was sent in one request. Prompts of a turn grow: each has what the one before had, and more. */
const PromptContent = Type.Object(
  {
    content_type: Type.Literal('prompt'),
    /** What it amounts to, in one line. */
    text: Type.String(),
    model: Type.String(),
    provider: Type.Optional(Type.String()),
    /** Address of the server, where it is not the provider's own. */
    baseURL: Type.Optional(Type.String()),
    settings: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    /** How many messages of the turn's earlier prompts come first. */
    earlier: Type.Integer({ minimum: 0 }),
    messages: Type.Array(SentMessage),
    tools: Type.Object(
      {
        count: Type.Integer({ minimum: 0 }),
        hash: Type.String(),
        /** Where prompts are kept, and the tools are not those of the prompt before. */
        offered: Type.Optional(Type.Array(Type.Unknown())),
      },
      closed,
    ),
  },
  closed,
)
export type PromptContent = Static<typeof PromptContent>

/** A summary of messages that are too old for the prompts of an agent. */
const SummaryContent = Type.Object(
  {
    content_type: Type.Literal('summary'),
    text: Type.String(),
    /** Id of the log that they are in. */
    epoch: Type.String(),
    /** The seq up to which messages are in it. */
    through: Type.Integer({ minimum: 0 }),
    /** The seq up to which it counts what was taken back or erased. */
    asOf: Type.Integer({ minimum: 0 }),
  },
  closed,
)
export type SummaryContent = Static<typeof SummaryContent>

/** Why there is no answer. */
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

/** Throws, and says where. */
export function checkContent(content: Content, code: TranscriptErrorCode = 'invalid_content'): void {
  const type = content.content_type
  const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined
  if (schema === undefined) {
    const types = Object.keys(schemas).join(', ')
    throw new TranscriptError(code, `${String(type)} is none of the types ${types}`)
  }
  mustFit(schema, content, type, code)
}

export interface ContentHints {
  readonly default_priority: Priority
  readonly default_role: 'user' | 'assistant' | 'tool'
  /** From 0 to 100: a prompt that is too long leaves out first what has less. */
  readonly compression_priority: number
}

/** The role of each type of commit in prompts. Prompts, summaries and errors are no part of the conversation. */
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

/** Tokens of one call; `null` = its provider did not say. */
export const Usage = Type.Object(
  {
    input: tokens,
    /** Reasoning is among them. */
    output: tokens,
    reasoning: tokens,
  },
  { additionalProperties: false },
)
export type Usage = Static<typeof Usage>
