import type { SpaceClient } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { expect, test } from 'vitest'
import {
  type ChatBody,
  calling,
  failing,
  type ModelReply,
  saying,
  serveModel,
} from '../../../../test/support/model-server.js'
import { findRefusal, type Provider } from './strict-schemas.js'

const maxTokens = 8192

interface OfferedFunction {
  readonly function: { readonly name: string; readonly parameters: Readonly<Record<string, unknown>> }
}

const getTools = ({ tools }: ChatBody): readonly OfferedFunction[] =>
  (tools ?? []) as readonly OfferedFunction[]

/** The error message if the roles of messages do not alternate, like that of Mistral's template; `undefined` = they do. */
function findMisplaced({ messages }: ChatBody): string | undefined {
  const [first, ...others] = messages.filter(({ role }) => role !== 'system')
  if (first?.role !== 'user') return 'Conversation roles must alternate user/assistant/user/assistant/...'
  let last = first
  for (const message of others) {
    if (last.role === 'tool' && message.role === 'user') return "Unexpected role 'user' after role 'tool'"
    const isCall = 'tool_calls' in last
    if (message.role === last.role && message.role !== 'tool')
      return 'Conversation roles must alternate user/assistant/user/assistant/...'
    if (isCall !== (message.role === 'tool') && !(last.role === 'tool' && message.role === 'tool'))
      return 'Not the same number of function calls and responses'
    last = message
  }
  return undefined
}

/** Refuses everything that OpenAI, Anthropic, Gemini or a strict chat template refuses. */
function refuse(provider: Provider, body: ChatBody): ModelReply | undefined {
  const tokens = Math.ceil(JSON.stringify([body.messages, body.tools]).length / 4)
  if (tokens > maxTokens) {
    const words = `This model's maximum context length is ${maxTokens} tokens. However, you requested ${tokens} tokens.`
    return failing(400, words)
  }
  if (body.stream_options !== undefined) return failing(400, 'Unrecognized request argument: stream_options')
  if (body.messages.some(({ role }) => role === 'system')) return failing(400, 'System role not supported')
  const misplaced = findMisplaced(body)
  if (misplaced !== undefined) return failing(400, misplaced)
  for (const [index, { function: tool }] of getTools(body).entries()) {
    const problem = findRefusal(provider, tool.parameters)
    if (problem !== undefined) return failing(400, `tools[${index}].function.parameters: ${problem}`)
  }
  return undefined
}

/** A tool with a schema that no provider accepts. */
const odd = (schema: Record<string, unknown>) => ({
  input: {
    '~standard': {
      version: 1 as const,
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => schema },
    },
  },
})

test('three agents answer fifty questions on strict servers with a small context, and none fails', async () => {
  const providers: readonly Provider[] = ['openai', 'anthropic', 'gemini']
  const refused = new Map<string, number>()
  const servers = await Promise.all(
    providers.map((provider) =>
      serveModel((body, index) => {
        const refusal = refuse(provider, body)
        if (refusal !== undefined) {
          refused.set(provider, (refused.get(provider) ?? 0) + 1)
          return refusal
        }
        const last = body.messages.at(-1)
        const tool = getTools(body)[index % Math.max(1, getTools(body).length)]
        if (last?.role !== 'tool' && index % 3 === 0 && tool !== undefined)
          return calling(
            tool.function.name,
            Object.fromEntries(
              Object.keys(tool.function.parameters.properties ?? {}).map((key) => [key, 'x']),
            ),
          )
        return saying(`${provider} says ${'so '.repeat(60)}`)
      }),
    ),
  )
  await using space = await createTestSpace({
    participants: {
      ana: ['*'],
      desk: { kind: 'mcp', capabilities: ['*'] },
      openai: ['*'],
      anthropic: ['*'],
      gemini: ['*'],
    },
  })
  const [ana, desk] = [await space.join('ana'), await space.join('desk')]
  const text = { type: 'string' }
  desk.tool(
    'either',
    odd({
      type: 'object',
      anyOf: [{ properties: { id: text }, required: ['id'] }, { properties: { name: text } }],
    }),
    () => 'y '.repeat(2000),
  )
  desk.tool(
    'odd',
    odd({
      type: 'object',
      properties: { 'user.name[0]': text, $ref: { $ref: '#/$defs/a' } },
      required: null,
      $defs: { a: { type: 'array' } },
    }),
    () => 'ok',
  )
  desk.tool(
    'when',
    odd({ type: 'object', properties: { when: { type: 'string', format: 'uri' }, kind: { const: 7 } } }),
    () => 'now',
  )
  const troubles: string[] = []
  const agents: SpaceClient[] = []
  for (const [index, id] of providers.entries()) {
    const agent = await space.join(id)
    agents.push(agent)
    const baseURL = servers[index]?.baseURL ?? ''
    const onError = (error: unknown) => troubles.push(String(error))
    void agent.agent({
      model: id,
      baseURL,
      onError,
      settings: { maxRetries: 0 },
      answers: ({ to }) => to?.includes(id) ?? false,
    })
  }
  for (let turn = 0; turn < 50; turn++) {
    const asked = [
      providers[turn % 3] ?? 'openai',
      ...(turn % 5 === 0 ? [providers[(turn + 1) % 3] ?? 'gemini'] : []),
    ]
    // Adds messages without addressee between the questions.
    if (turn % 4 === 0) await ana.chat(`By the way, ${'and so on '.repeat(30)}`)
    const { text: answer } = await ana.ask(`Question ${turn}: ${'why '.repeat(400)}`, { to: asked })
    expect(answer).toMatch(/ says so/)
  }
  expect(troubles.filter((each) => /could not|answered \d/.test(each))).toEqual([])
  // The servers refused requests, but only until their agent had adapted to their rules and, later, to their small context.
  for (const provider of providers) {
    expect(refused.get(provider)).toBeGreaterThan(2)
    expect(refused.get(provider)).toBeLessThan(20)
  }
}, 180_000)
