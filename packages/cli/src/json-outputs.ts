import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'

/** An object with exactly these fields. */
const object = <Fields extends TProperties>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false })
const optional = Type.Optional
const text = Type.String()
const texts = Type.Array(text)
const count = Type.Integer({ minimum: 0 })
const flag = Type.Boolean()
/** A schema defined elsewhere: in the gateway's `/openapi.json`, or an envelope. */
const named = <Value>(name: string) => Type.Unsafe<Value>({ $ref: name })
const oneOf = <const Values extends readonly string[]>(...values: Values) =>
  Type.Unsafe<Values[number]>({ enum: values })

const envelope = named<object>('envelope')
const capabilities = Type.Array(Type.Unknown())

const program = object({
  space: text,
  participant: text,
  state: text,
  since: text,
  count,
  lastError: optional(text),
  nextTry: optional(text),
})
const token = object({
  space: text,
  participant: text,
  kind: text,
  file: text,
  state: text,
  warnings: texts,
  token: optional(text),
})
const reach = oneOf('none', 'applied', 'silent')
const changedTokens = object({ tokens: Type.Array(token), gateway: reach })
const copiedLog = { space: text, epoch: text, first: count, head: count, hash: text }
const grant = { id: text, recipient: text, capabilities, expiresAt: optional(text) }
const restriction = object({ by: text, until: optional(text), reason: optional(text) })
const decided = object({ id: text, state: text, by: text, reason: text, message: optional(text) })
const toolResult = { content: optional(Type.Unknown()), structuredContent: optional(Type.Unknown()) }
const kept = { commit: Type.Object({ hash: text }) }
const commit = Type.Object({ agent: text, ...kept })

/** Output of a command with `--json`: one JSON value, or one per line. */
interface JsonOutput {
  readonly prints: 'one' | 'lines'
  readonly schema: TSchema
}

const one = <Schema extends TSchema>(schema: Schema) => ({ prints: 'one', schema }) as const
const lines = <Schema extends TSchema>(schema: Schema) => ({ prints: 'lines', schema }) as const

/** Schemas of `--json` outputs by command path. An option may make a command print something else. */
export const jsonOutputs = {
  init: one(
    object({
      ...{ directory: text, template: text, space: text, person: text, agent: text, listen: text },
      ...{ files: texts, commands: texts, question: text, imported: texts, variables: texts, secrets: texts },
    }),
  ),
  add: one(
    object({
      ...{ participant: text, space: text, file: text, change: oneOf('added', 'replaced', 'none') },
      ...{ server: Type.Record(text, Type.Unknown()), secrets: texts, notices: texts, gateway: reach },
      program: optional(program),
    }),
  ),
  up: lines(Type.Object({ event: text })),
  'up -d': one(object({ url: text, spaces: texts, pid: count, log: text, programs: Type.Array(program) })),
  gateway: lines(Type.Object({ event: text })),
  down: one(object({ stopped: flag, pid: optional(count) })),
  restart: one(object({ restarted: texts })),
  spaces: one(Type.Array(object({ directory: text, url: text, spaces: texts, pid: count }))),
  logs: lines(
    object({
      ...{ seq: count, time: text, space: optional(text), participant: text },
      ...{ stream: oneOf('stdout', 'stderr', 'event'), text },
    }),
  ),
  'space init': one(object({ file: text, space: text, human: text, agent: text })),
  'space validate': one(
    object({
      ...{ valid: flag, file: text, listen: optional(text), storage: optional(text) },
      spaces: optional(
        Type.Array(
          object({
            name: text,
            participants: Type.Array(object({ id: text, kind: text, capabilities, runs: optional(text) })),
          }),
        ),
      ),
      problems: optional(Type.Array(object({ line: count, column: count, path: text, message: text }))),
    }),
  ),
  'token create': one(changedTokens),
  'token rotate': one(changedTokens),
  'token revoke': one(changedTokens),
  'token list': one(object({ tokens: Type.Array(token) })),
  join: lines(envelope),
  watch: lines(envelope),
  replay: lines(envelope),
  'replay --into': one(object({ space: text, path: text, epoch: text, head: count, hash: text })),
  open: one(object({ url: text, expiresAt: text })),
  ask: one(envelope),
  send: one(envelope),
  call: one(object(toolResult)),
  'proposals ls': lines(
    object({
      ...{ seq: count, id: text, from: text, to: optional(texts), context: optional(text) },
      ...{
        session: Type.Union([text, Type.Null()]),
        programEnded: flag,
        tool: text,
        parameters: Type.Unknown(),
      },
      rationale: Type.Union([text, Type.Null()]),
      state: oneOf('open', 'fulfilled', 'rejected', 'withdrawn', 'expired'),
      ...{ usesLeft: count, proposedAt: text, expiresAt: Type.Union([text, Type.Null()]) },
      fulfilments: Type.Array(Type.Object({ by: text })),
      rejections: Type.Array(Type.Object({ by: text })),
      withdrawal: Type.Union([Type.Object({ by: text }), Type.Null()]),
    }),
  ),
  'proposals show': one(Type.Object({ method: text })),
  'proposals approve': one(
    object({ ...toolResult, isError: optional(flag), grant: optional(object(grant)) }),
  ),
  'proposals reject': one(decided),
  'proposals withdraw': one(decided),
  'caps ls': lines(
    object({
      id: text,
      configured: capabilities,
      grants: Type.Array(object({ ...grant, grantor: text, ts: text, reason: optional(text) })),
      others: capabilities,
      status: optional(text),
      paused: optional(restriction),
      kicked: optional(restriction),
      program: optional(Type.Unknown()),
    }),
  ),
  'caps explain': one(
    object({ participant: text, allowed: flag, sentences: texts, missing: optional(Type.Unknown()) }),
  ),
  'caps grant': one(object(grant)),
  'caps revoke': one(envelope),
  'caps log': lines(envelope),
  invite: one(object({ participantId: text, status: text, token: optional(text), url: text })),
  kick: one(envelope),
  pause: one(envelope),
  resume: one(envelope),
  ps: one(
    object({
      ...{ url: text, space: text },
      participants: Type.Array(
        object({
          ...{ id: text, kind: text, state: text, text, runs: count, thinksSince: optional(text) },
          ...{
            messagesPerSecond: Type.Number(),
            callsPerMinute: Type.Number(),
            tokensPerHour: Type.Number(),
          },
          ...{ last: text, lastAct: optional(text), lastError: optional(text), nextTry: optional(text) },
        }),
      ),
    }),
  ),
  search: lines(named<object>('hit')),
  reasoning: lines(named<object>('turn')),
  why: one(named<object>('why')),
  'transcript log': lines(commit),
  'transcript show': lines(commit),
  'transcript diff': lines(Type.Array(Type.Object(kept))),
  'transcript compile': lines(Type.Object({ role: text })),
  'transcript verify': lines(Type.Object({ agent: text, ok: flag })),
  'transcript replay': lines(Type.Object(kept)),
  'audit trail': lines(named<object>('step')),
  'audit export': lines(
    Type.Union([
      object({ epoch: text, first: count, previous: text }),
      Type.Object({ seq: count }),
      object({ epoch: text, head: count, hash: text }),
    ]),
  ),
  'audit export --format sqlite': lines(
    object({ file: text, session_id: text, turns: count, steps: count, pruned: count }),
  ),
  'audit verify': one(named<object>('verification')),
  erase: lines(named<object>('erasure')),
  stats: one(
    object({
      gateway: Type.Union([
        object({
          ...{ url: text, uptimeMs: Type.Number(), memoryBytes: count },
          spaces: Type.Array(Type.Object({ space: text, isReady: flag, head: count, present: count })),
        }),
        Type.Null(),
      ]),
      log: Type.Union([
        object({
          files: Type.Array(object({ file: text, bytes: count })),
          spaces: Type.Array(object({ space: text, head: count, newest: Type.Union([text, Type.Null()]) })),
        }),
        Type.Null(),
      ]),
    }),
  ),
  doctor: one(
    object({
      ok: flag,
      settings: Type.Array(object({ name: text, value: text, from: text })),
      checks: Type.Array(object({ name: text, ok: flag, detail: text, advice: optional(text) })),
    }),
  ),
  backup: one(object({ file: text, logs: Type.Array(object(copiedLog)) })),
  restore: one(
    object({ file: text, logs: Type.Array(object({ ...copiedLog, erased: Type.Array(Type.Unknown()) })) }),
  ),
  'mcp serve': one(object({ event: text, url: text, tokenFile: text, pid: count })),
} as const satisfies Readonly<Record<string, JsonOutput>>

/** Commands without `--json`, with the reason. */
export const withoutJson: Readonly<Record<string, string>> = {
  top: 'draws a screen; `meup ps --json` has the same',
  acp: 'speaks the Agent Client Protocol on stdout',
  completion: 'prints a script',
  man: 'prints a page',
  help: 'prints a page',
}

/** Type of a command's output, so that the compiler checks the code that prints it. */
export type JsonOf<Command extends keyof typeof jsonOutputs> = Unchanging<
  Static<(typeof jsonOutputs)[Command]['schema']>
>

type Unchanging<Value> = Value extends readonly (infer Item)[]
  ? readonly Unchanging<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Unchanging<Value[Key]> }
    : Value
