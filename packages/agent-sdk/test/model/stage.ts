import type { AgentOptions, SpaceClient } from '@meup/agent-sdk'
import { type Deed, type ScriptedModel, scriptedModel } from '@meup/agent-sdk/ai'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { type AnyEnvelope, type Capability, defaultLimits, Kind, type Limits } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import { NoAnswerError, type noAnswerTexts } from '../../src/model/errors.js'
import { type EnvelopeRecorder, recordEnvelopes } from '../support/record-envelopes.js'

export type Script = Parameters<typeof scriptedModel>[0]

export interface Stage extends AsyncDisposable {
  readonly ana: SpaceClient
  readonly bob: SpaceClient
  readonly bot: SpaceClient
  readonly desk: SpaceClient
  readonly heard: EnvelopeRecorder
  readonly model: ScriptedModel
  /** Errors that the agent reported to its operator. */
  readonly troubles: unknown[]
  /** Resolves when the agent has ended. */
  readonly ended: Promise<void>
  /** Lets ana ask a question, and returns the answer. */
  ask(question?: string): Promise<string>
}

interface Options extends Partial<AgentOptions> {
  readonly provider?: string
  readonly capabilities?: readonly Capability[]
  readonly rates?: Partial<Limits['rates']>
  /** The configured kind of bob and desk; default: agent. */
  readonly kind?: string
  /** Folder of the agent's transcript; default: none. */
  readonly transcripts?: string
}

/** A space with ana, bob, an agent `bot` with a scripted model, and `desk` with two tools: `add`, and `look`, which fails. */
export async function stage(script: Script, options: Options = {}): Promise<Stage> {
  const { provider, capabilities = ['*'], rates, kind = 'agent', transcripts, ...rest } = options
  const owner = { kind, capabilities: ['*'] }
  const participants = { ana: ['*', 'observe.targeted'], bob: owner, bot: capabilities, desk: owner }
  const space = await createTestSpace({
    participants,
    ...(rates && { limits: { rates: { ...defaultLimits.rates, ...rates } } }),
  })
  const [ana, bob, bot, desk] = [
    await space.join('ana'),
    await space.join('bob'),
    await space.join('bot', transcripts === undefined ? {} : { transcripts }),
    await space.join('desk'),
  ]
  desk.tool(
    'add',
    { description: 'Adds', input: Type.Object({ a: Type.Number(), b: Type.Number() }) },
    ({ a, b }) => String(a + b),
  )
  desk.tool('look', {}, () => {
    throw new Error('it is dark')
  })
  const model = scriptedModel(script, provider === undefined ? {} : { provider })
  const troubles: unknown[] = []
  const heard = recordEnvelopes(ana)
  const ended = bot.agent({ model, tools: ['desk/*'], onError: (error) => troubles.push(error), ...rest })
  return {
    ...{ ana, bob, bot, desk, heard, model, troubles, ended },
    ask: async (question = 'What is 2 + 3?') => (await ana.ask(question, { to: ['bot'] })).text,
    [Symbol.asyncDispose]: () => space.close(),
  }
}

export const answering = (text: string): readonly Deed[] => [{ text }]
export const adding = (input: object, ...before: readonly Deed[]): readonly Deed[] => [
  ...before,
  { call: 'desk__add', input },
]

/** The public envelopes of the agent, formatted as kind and text, reason or tool. Omits tool lists, responses, and deltas. */
export function listStory({ all }: EnvelopeRecorder): string[] {
  const unlisted: ReadonlySet<string> = new Set([Kind.mcpResponse, Kind.chatDelta])
  return all.filter(({ from, kind }) => from === 'bot' && !unlisted.has(kind)).flatMap(formatEnvelope)
}

function formatEnvelope(envelope: AnyEnvelope): string[] {
  if (envelope.kind === Kind.mcpRequest || envelope.kind === Kind.mcpProposal) {
    const { method, params } = envelope.payload
    if (method !== 'tools/call') return []
    const group = envelope.parallelGroup === undefined ? '' : ` [${envelope.parallelGroup}]`
    return [`${envelope.kind} ${String(params?.name)}${group}: ${envelope.rationale}`]
  }
  const { message, reason } = envelope.payload as { message?: string; reason?: string }
  const text = message ?? reason
  return [text === undefined ? envelope.kind : `${envelope.kind}: ${text}`]
}

/** The agent's calls, in order. */
export const getToolCalls = ({ heard }: Pick<Stage, 'heard'>): unknown[] =>
  heard.all.flatMap((each) => {
    if (each.kind !== Kind.mcpRequest || each.payload.method !== 'tools/call') return []
    const { name, arguments: args } = each.payload.params ?? {}
    return [{ name, arguments: args }]
  })

/** The messages of a request to the model. */
export const getPrompt = (model: ScriptedModel, index: number) => model.requests[index]?.prompt ?? []

/** The text of the chat that the asker gets if a turn fails with this `NoAnswerError`. */
export const noAnswer = <Code extends keyof typeof noAnswerTexts>(
  code: Code,
  details: NoAnswerError<Code>['details'],
): string => `I could not answer: ${new NoAnswerError(code, details).message}`
