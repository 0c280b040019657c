import type {
  AgentModel,
  AgentOptions,
  Grant,
  ModelSettings,
  Proposal,
  ProposalError,
  ProposalOutcome,
  Reasoning,
  SpaceClient,
  ToolContext,
  ToolResult,
  Turn,
} from '@meup/agent-sdk'
import type { BaseClient } from '@meup/agent-sdk/watch'
import {
  type AnyEnvelope,
  type EnvelopeOf,
  isKind,
  Kind,
  type McpResponsePayload,
  type WelcomePayload,
} from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import type { LanguageModel, streamText } from 'ai'
import { describe, expectTypeOf, test } from 'vitest'
import type { FakeSchema } from './support/fake-schema.js'

/** The compiler checks these types. Running the tests only shows that the names exist. */
describe('comparing `kind` narrows `payload`', () => {
  test('by literal and by constant', () => {
    const read = (envelope: AnyEnvelope): void => {
      if (envelope.kind === 'chat') {
        expectTypeOf(envelope).toEqualTypeOf<EnvelopeOf<'chat'>>()
        expectTypeOf(envelope.payload.message).toEqualTypeOf<string>()
        // @ts-expect-error a chat has no method
        void envelope.payload.method
      }
      if (envelope.kind === Kind.mcpRequest) {
        expectTypeOf(envelope.payload.method).toEqualTypeOf<string>()
        expectTypeOf(envelope.rationale).toEqualTypeOf<string | undefined>()
      }
      if (envelope.kind === Kind.reasoningStart) {
        expectTypeOf(envelope.payload.message).toEqualTypeOf<string | undefined>()
        expectTypeOf(envelope.payload.references).toEqualTypeOf<string[] | undefined>()
      }
      if (envelope.kind === Kind.systemError) expectTypeOf(envelope.payload.code).toExtend<string>()
    }
    expectTypeOf(read).toBeFunction()
  })

  test('by switch, with every other kind left over', () => {
    const read = (envelope: AnyEnvelope): string | undefined => {
      switch (envelope.kind) {
        case 'chat':
          return envelope.payload.message
        case 'reasoning.thought':
          expectTypeOf(envelope.payload.phase).toExtend<string | undefined>()
          return envelope.payload.message
        default:
          expectTypeOf(envelope.payload).not.toEqualTypeOf<{ message: string }>()
          return isKind(envelope, 'weather.report') ? envelope.id : undefined
      }
    }
    expectTypeOf(read).returns.toEqualTypeOf<string | undefined>()
  })

  test('fields that every envelope has', () => {
    expectTypeOf<AnyEnvelope['id']>().toEqualTypeOf<string>()
    expectTypeOf<AnyEnvelope['seq']>().toEqualTypeOf<number | undefined>()
    expectTypeOf<AnyEnvelope['correlationId']>().toEqualTypeOf<string | string[] | undefined>()
  })
})

describe('what comes back', () => {
  test('of a seat', () => {
    expectTypeOf<SpaceClient['send']>().returns.resolves.toEqualTypeOf<AnyEnvelope>()
    expectTypeOf<SpaceClient['chat']>().returns.resolves.toEqualTypeOf<AnyEnvelope>()
    expectTypeOf<SpaceClient['request']>().returns.resolves.toEqualTypeOf<Record<string, unknown>>()
    expectTypeOf<SpaceClient['call']>().returns.resolves.toEqualTypeOf<ToolResult>()
    type PartType = 'text' | 'image' | 'audio' | 'resource' | 'link'
    expectTypeOf<ToolResult['parts'][number]['type']>().toEqualTypeOf<PartType>()
    expectTypeOf<SpaceClient['subscribe']>().returns.resolves.toEqualTypeOf<WelcomePayload>()
    expectTypeOf<SpaceClient['turns']>().returns.toExtend<AsyncIterable<Turn>>()
    expectTypeOf<SpaceClient['envelopes']>().returns.toExtend<AsyncIterable<AnyEnvelope>>()
    expectTypeOf<SpaceClient>().toExtend<AsyncDisposable>()
    expectTypeOf<Reasoning>().toExtend<AsyncDisposable>()
    expectTypeOf<Turn['trigger']>().toEqualTypeOf<EnvelopeOf<'chat'>>()
  })

  test('of a batch, one result for each call', () => {
    const batch = (run: Reasoning) =>
      run.parallel([
        { tool: 'files/read', why: 'to look' },
        { tool: 'tests/run', args: { suite: 'auth' }, why: 'to be sure' },
      ])
    expectTypeOf(batch).returns.resolves.toEqualTypeOf<readonly [ToolResult, ToolResult]>()
  })

  test('a call in a run says why', () => {
    const call = (run: Reasoning) => {
      void run.call('files/read', {}, { why: 'to look' })
      // @ts-expect-error the option `why` is missing
      void run.call('files/read', {}, {})
    }
    expectTypeOf(call).toBeFunction()
  })
})

describe('what becomes of a proposal', () => {
  test('is told apart by its state', () => {
    const read = (outcome: ProposalOutcome): void => {
      if (outcome.state === 'approved') {
        expectTypeOf(outcome.by).toEqualTypeOf<string>()
        expectTypeOf(outcome.response).toEqualTypeOf<McpResponsePayload>()
      } else if (outcome.state === 'rejected') expectTypeOf(outcome.reason).toEqualTypeOf<string>()
      else expectTypeOf(outcome.state).toEqualTypeOf<'withdrawn' | 'expired'>()
    }
    expectTypeOf(read).toBeFunction()
    expectTypeOf<SpaceClient['propose']>().returns.resolves.toEqualTypeOf<Proposal>()
    expectTypeOf<ProposalError['outcome']['state']>().toEqualTypeOf<'rejected' | 'withdrawn' | 'expired'>()
  })

  test('a grant is what is revoked', () => {
    const takeBack = (space: SpaceClient, grant: Grant): void => {
      void space.revoke(grant)
      void space.revoke({ recipient: 'bot', capabilities: ['chat'] })
      // @ts-expect-error neither `grant` nor `capabilities` is given
      void space.revoke({ recipient: 'bot' })
    }
    expectTypeOf(takeBack).toBeFunction()
  })
})

describe('a handler gets what its schema describes', () => {
  test('TypeBox, Standard Schema, none', () => {
    const offer = (space: SpaceClient, standard: FakeSchema<{ city: string }>): void => {
      const input = Type.Object({ path: Type.String(), lines: Type.Optional(Type.Integer()) })
      space
        .tool('read', { input }, (args, context) => {
          expectTypeOf(args).toEqualTypeOf<{ lines?: number; path: string }>()
          expectTypeOf(context).toEqualTypeOf<ToolContext>()
          return args.path
        })
        .tool('weather', { input: standard }, (args) => {
          expectTypeOf(args).toEqualTypeOf<{ city: string }>()
        })
        .tool('now', {}, () => Date.now())
    }
    expectTypeOf(offer).toBeFunction()
  })
})

describe('what only the package uses is not in its types', () => {
  test('of turns and runs', () => {
    expectTypeOf<keyof Turn>().toEqualTypeOf<
      | 'space'
      | 'trigger'
      | 'text'
      | 'from'
      | 'thinkingLevel'
      | 'signal'
      | 'isAnswered'
      | 'isMissed'
      | 'history'
      | 'reason'
      | 'reply'
      | 'write'
      | 'ask'
      | 'handOver'
      | 'review'
      | 'acknowledge'
    >()
    expectTypeOf<keyof Reasoning>().toEqualTypeOf<
      | 'context'
      | 'signal'
      | 'isClosed'
      | 'thought'
      | 'reason'
      | 'hide'
      | 'show'
      | 'call'
      | 'tools'
      | 'parallel'
      | 'conclude'
      | 'cancel'
      | typeof Symbol.asyncDispose
    >()
  })

  test('of clients', () => {
    const inherit = (Client: typeof BaseClient): object =>
      class extends Client {
        inside = [
          // @ts-expect-error internal: the components of a client
          this.handlers,
          // @ts-expect-error internal: the pending requests of a client
          this.requests,
          // @ts-expect-error internal: the method that reports errors
          this.reportError,
        ]
      }
    expectTypeOf(inherit).toBeFunction()
  })
})

describe('an agent with a model', () => {
  test('takes the models and settings of the `ai` package, though its types do not name it', () => {
    expectTypeOf<LanguageModel>().toExtend<AgentModel>()
    expectTypeOf<Pick<Parameters<typeof streamText>[0], keyof ModelSettings>>().toExtend<ModelSettings>()
    const begin = (space: SpaceClient, model: LanguageModel, options: Omit<AgentOptions, 'model'>): void => {
      expectTypeOf(space.agent({ ...options, model, tools: ['files/*'] })).resolves.toEqualTypeOf<void>()
      // @ts-expect-error the option `model` is missing
      void space.agent({ instructions: 'You review.' })
      const later = { provider: 'acme', modelId: 'a', doStream: () => Promise.reject(new Error('no')) }
      void space.agent({ model: { ...later, specificationVersion: 'v3' } })
      // @ts-expect-error an unknown `specificationVersion`
      void space.agent({ model: { ...later, specificationVersion: 'v5' } })
    }
    expectTypeOf(begin).toBeFunction()
  })
})
