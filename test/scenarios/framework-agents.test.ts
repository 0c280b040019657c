import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SpaceClient, Turn } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { type AnyEnvelope, type Capability, Kind } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { answerWith as answerWithGraph } from '../../examples/langgraph-agent/src/agent.js'
import { chooseModel as chooseChatModel } from '../../examples/langgraph-agent/src/choose-model.js'
import { ScriptedChatModel } from '../../examples/langgraph-agent/src/scripted-chat-model.js'
import { answerWith as answerWithAgent } from '../../examples/openai-agents/src/agent.js'
import { chooseModel } from '../../examples/openai-agents/src/choose-model.js'
import { type Script, type Step, scriptedModel } from '../../examples/openai-agents/src/scripted-model.js'
import { deferred } from '../../packages/agent-sdk/test/support/deferred.js'
import { repositoryRoot } from '../support/files.js'
import { serveModel } from '../support/model-server.js'
import { toReplies } from '../support/openai-responses.js'

vi.setConfig({ testTimeout: 120_000 })

const instructions = 'You add.'
const frameworks: [name: string, answer: (script: Script) => (turn: Turn) => Promise<void>][] = [
  ['langgraph-agent', (script) => answerWithGraph(new ScriptedChatModel(script), instructions)],
  ['openai-agents', (script) => answerWithAgent(scriptedModel(script), instructions)],
]

interface Stage {
  readonly ana: SpaceClient
  readonly heard: readonly AnyEnvelope[]
  readonly errors: readonly unknown[]
  ask(): Promise<string>
}

/** Opens a space with ana, an agent of a framework, and a desk with a tool that adds. */
async function stage(answer: (turn: Turn) => Promise<void>, more: Capability[]): Promise<Stage> {
  const bot = ['chat', 'reasoning.*', { kind: 'mcp.request', payload: { method: 'tools/list' } }, ...more]
  const desk = { kind: 'mcp', capabilities: ['*'] } as const
  const space = await createTestSpace({ participants: { ana: ['*'], desk, bot } })
  onTestFinished(() => space.close())
  const [ana, adder, agent] = [await space.join('ana'), await space.join('desk'), await space.join('bot')]
  const input = Type.Object({ a: Type.Number(), b: Type.Number() })
  adder.tool('add', { description: 'Adds', input }, ({ a, b }) => `${a + b}`)
  const [heard, errors]: [AnyEnvelope[], unknown[]] = [[], []]
  ana.on('envelope', (envelope) => heard.push(envelope))
  void agent.answer(answer, { onError: (error) => errors.push(error) })
  return {
    ...{ ana, heard, errors },
    ask: async () => (await ana.ask('What is 2 + 3 + 4?', { to: ['bot'] })).text,
  }
}

const add = (a: number, b: number, _rationale?: string) => ({
  name: 'desk__add',
  args: { ...(_rationale && { _rationale }), a, b },
})

/**
 * The model's script: two steps with tools, the second with two calls at once, and an answer. A result of an approved call is
 * preceded by the name of the approver.
 */
function adding(results: readonly string[]): Step {
  const [first, second, third] = results.map((result) => Number(result.replace('Approved by ana.', '')))
  if (first === undefined)
    return { thought: 'Two sums. I have a tool.', text: 'First a half.', calls: [add(2, 3, 'to begin')] }
  if (third === undefined) return { text: 'Now twice.', calls: [add(first, 4), add(4, 5, 'to check')] }
  return { text: second === third ? `It is **${second}**.` : 'I cannot tell.' }
}

const textOf = ({ payload, rationale }: AnyEnvelope): string => {
  const { message = '', reason = '' } = payload as { message?: string; reason?: string }
  return message || reason || (rationale ?? '')
}

/** Lists the acts of the agent, without deltas and requests for lists of tools. */
const storyOf = (heard: readonly AnyEnvelope[]): string[] =>
  heard
    .filter(({ from, kind, payload }) => {
      const isList = (payload as { method?: string }).method === 'tools/list'
      return from === 'bot' && kind !== Kind.chatDelta && !isList
    })
    .map((envelope) => `${envelope.kind} ${textOf(envelope)}`.trim())

describe.for(frameworks)('%s', ([name, answer]) => {
  test('its agent has at most 80 lines', () => {
    const agent = readFileSync(join(repositoryRoot, 'examples', name, 'src/agent.ts'), 'utf8')
    expect(agent.split('\n').length).toBeLessThanOrEqual(80)
  })

  test('thoughts, calls with their reasons, and the answer as it is written are seen', async () => {
    const { heard, errors, ask } = await stage(answer(adding), [{ tool: 'desk/add' }])
    expect(await ask()).toBe('It is **9**.')
    // On a busy machine, the sentences of a thought are published one by one: join them.
    const story = storyOf(heard)
      .join('\n')
      .replace(/(reasoning\.thought .*)\nreasoning\.thought /g, '$1 ')
    expect(story.replace('\nreasoning.thought First', ' First').split('\n')).toEqual([
      'reasoning.start',
      'reasoning.thought Two sums. I have a tool. First a half.',
      'mcp.request to begin',
      'reasoning.thought Now twice.',
      'mcp.request Now twice.',
      'mcp.request to check',
      'reasoning.conclusion',
      'chat It is **9**.',
    ])
    const run = heard.find(({ kind }) => kind === Kind.reasoningStart)
    const calls = heard.filter(({ kind, rationale }) => kind === Kind.mcpRequest && rationale !== undefined)
    expect(calls.map(({ context }) => context)).toEqual([run?.id, run?.id, run?.id])
    expect(calls[0]?.payload).toMatchObject({ params: { name: 'add', arguments: { a: 2, b: 3 } } })
    expect(calls[0]?.payload).not.toMatchObject({ params: { arguments: { _rationale: expect.anything() } } })
    expect(heard.filter(({ kind }) => kind === Kind.chatDelta).length).toBeGreaterThan(0)
    expect(errors).toEqual([])
  })

  test('an interruption aborts the model', async () => {
    const [called, aborted] = [deferred(), deferred()]
    const waiting: Script = async (_results, signal) => {
      called.resolve()
      await new Promise((resolve) => signal?.addEventListener('abort', resolve))
      aborted.resolve()
      return { text: 'too late' }
    }
    const { ana, heard, ask } = await stage(answer(waiting), [{ tool: 'desk/add' }])
    const answered = ask()
    await called.promise
    const context = heard.find(({ kind }) => kind === Kind.reasoningStart)?.id ?? ''
    await ana.send({ kind: Kind.reasoningCancel, context, payload: { reason: 'never mind' } })
    await aborted.promise
    expect(await answered).toBe('I was stopped: interrupted by ana: never mind')
    expect(heard.filter(({ kind }) => kind === Kind.chatDelta)).toEqual([])
  })

  test('a tool that it may only propose is proposed, and goes on when it is approved', async () => {
    const { ana, heard, ask } = await stage(answer(adding), [{ kind: 'mcp.proposal', to: 'desk' }])
    const proposed = new Set<string>()
    ana.on('envelope', ({ kind, id }) => {
      if (kind !== Kind.mcpProposal || proposed.has(id)) return
      proposed.add(id)
      void ana.proposals.approve(id)
    })
    expect(await ask()).toBe('It is **9**.')
    const proposals = heard.filter(({ kind }) => kind === Kind.mcpProposal)
    expect(proposals.map(({ rationale }) => rationale)).toEqual(['to begin', 'Now twice.', 'to check'])
  })

  test('a model that throws is answered with why', async () => {
    const { heard, errors, ask } = await stage(
      answer(() => Promise.reject(new Error('overloaded'))),
      [{ tool: 'desk/add' }],
    )
    expect(await ask()).toBe('I could not answer: overloaded')
    expect(storyOf(heard)).toContain('reasoning.cancel overloaded')
    expect(errors).toMatchObject([{ message: 'overloaded' }])
  })
})

const models: [name: string, answer: (env: Record<string, string>) => (turn: Turn) => Promise<void>][] = [
  ['langgraph-agent', (env) => answerWithGraph(chooseChatModel(env), instructions)],
  ['openai-agents', (env) => answerWithAgent(chooseModel(env), instructions)],
]

test.for(models)(
  '%s with a key has a model of OpenAI, and shows what it streams once',
  async ([, answer]) => {
    const replies = toReplies([
      { thought: 'A sum. ', text: 'Let me add.', call: add(5, 4, 'to be sure') },
      { text: 'It is 9.' },
    ])
    const { baseURL } = await serveModel(replies)
    for (const [name, value] of Object.entries({ OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: 'none' }))
      vi.stubEnv(name, value)
    onTestFinished(() => void vi.unstubAllEnvs())
    const env = { OPENAI_API_KEY: 'none', MODEL: 'gpt-5.1' }
    const { heard, ask } = await stage(answer(env), [{ tool: 'desk/add' }])
    expect(await ask()).toBe('It is 9.')
    expect(storyOf(heard)).toEqual([
      'reasoning.start',
      'reasoning.thought A sum.',
      'reasoning.thought Let me add.',
      'mcp.request to be sure',
      'reasoning.conclusion',
      'chat It is 9.',
    ])
  },
)
