import { type Extraction, extractReasoning } from '@meup/agent-sdk/extract'
import {
  type CompileOptions,
  type ModelClient,
  openTranscript,
  type PromptMessage,
} from '@meup/agent-sdk/transcript'
import { describe, expect, test } from 'vitest'
import { type Line, scripted, types } from './scripted-client.js'

const sign = (name: string) => ({ type: 'thinking', thinking: '', signature: `signed-${name}` })
const read = { id: 'c1', name: 'read', arguments: {} }

/** Responses to two questions: the first one takes two calls of a tool, the second one none. */
const lines: Line[] = [
  { text: 'Looking', reasoning: 'first thought', toolCalls: [read], opaque: [sign('a'), sign('b')] },
  { toolCalls: [read], opaque: [{ reasoning_content: '' }] },
  { text: 'Test 2.', reasoning: 'last thought', opaque: [sign('c')] },
  { text: 'Bye.' },
]

async function loop(more: Parameters<typeof scripted>[1] = {}, options: { commitReasoning?: boolean } = {}) {
  const client = scripted(lines, more)
  const transcript = openTranscript({ client, ...options })
  await transcript.chat('What fails?')
  transcript.tool('c1', 'nothing here')
  await transcript.generate()
  transcript.tool('c1', 'FAIL 2')
  await transcript.generate()
  return { transcript, client }
}

const itemsIn = (prompt: readonly PromptMessage[]) =>
  prompt.flatMap((message) => (message.type === 'assistant' ? [message.replay?.items ?? null] : []))

describe('what a provider demands back', () => {
  test('is sent as it came, in order, empty or not, from the next call on and in all later ones', async () => {
    const { transcript, client } = await loop()
    await transcript.chat('Thanks')
    const [first, second] = [[sign('a'), sign('b')], [{ reasoning_content: '' }]]
    expect(client.asked.map(({ messages }) => itemsIn(messages))).toEqual([
      [],
      [first],
      [first, second],
      [first, second, null],
    ])
    expect(transcript.commits[2]?.content).toMatchObject({ replay: { source: 'reasoning' } })
  })

  test('is no text: of the thoughts themselves the prompts say nothing', async () => {
    const { client } = await loop()
    const prompts = JSON.stringify(client.asked)
    expect(prompts).not.toMatch(/first thought|last thought|<think/)
    for (const { messages } of client.asked) expect(types(messages)).not.toContain('reasoning')
  })

  test('is kept where reasoning is not committed, and then only with calls', async () => {
    const { transcript } = await loop({}, { commitReasoning: false })
    expect(transcript.log({ type: 'reasoning' })).toEqual([])
    const answers = transcript.log({ type: 'assistant' }).map(({ commit }) => 'replay' in commit.content)
    expect(answers).toEqual([true, true, false])
  })

  test.for<[NonNullable<CompileOptions['replay']>, unknown[]]>([
    ['required', [[sign('a'), sign('b')], [{ reasoning_content: '' }], null]],
    ['all', [[sign('a'), sign('b')], [{ reasoning_content: '' }], [sign('c')]]],
    ['none', [null, null, null]],
  ])('by the policy %s', async ([replay, expected]) => {
    const { transcript } = await loop()
    expect(itemsIn(transcript.compile({ replay }))).toEqual(expected)
  })

  test('goes to nobody else', async () => {
    const { transcript } = await loop({ provider: 'anthropic' })
    const own = itemsIn(transcript.compile())
    expect(own.slice(0, 2)).not.toContain(null)
    expect(itemsIn(transcript.compile({ provider: 'anthropic' }))).toEqual(own)
    expect(itemsIn(transcript.compile({ provider: 'deepseek' }))).toEqual([null, null, null])
    const next = scripted([{ text: 'Hello' }], { provider: 'deepseek' })
    const moved = openTranscript({ client: next, record: transcript.toJSON() })
    await moved.chat('Thanks')
    expect(itemsIn(next.asked[0]?.messages ?? [])).toEqual([null, null, null])
  })

  test('is the same after a restart', async () => {
    const { transcript } = await loop()
    const record = JSON.parse(JSON.stringify(transcript))
    expect(openTranscript({ record }).compile()).toEqual(transcript.compile())
  })
})

describe('reasoning that is asked for', () => {
  test('is not said again where its signed form goes back, which nothing may be put before', async () => {
    const { transcript } = await loop()
    const prompt = transcript.compile({ includeReasoning: true })
    expect(types(prompt)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'reasoning',
      'assistant',
    ])
    expect(prompt.find(({ type }) => type === 'reasoning')?.text).toBe('last thought')
    const plain = transcript.compile({ includeReasoning: true, replay: 'none' })
    expect(types(plain).filter((type) => type === 'reasoning')).toHaveLength(2)
    const [thought] = transcript.log({ type: 'reasoning' })
    transcript.annotate(thought?.commit.hash ?? '', 'pinned')
    expect(types(transcript.compile())).not.toContain('reasoning')
  })

  test('that was committed by hand stays, whatever goes back', () => {
    const transcript = openTranscript()
    transcript.user('What fails?')
    transcript.reasoning('by hand')
    const replay = { source: 'thinking', items: [sign('a')] }
    transcript.assistant('', { toolCalls: [read], replay })
    expect(types(transcript.compile({ includeReasoning: true }))).toEqual(['user', 'reasoning', 'assistant'])
    expect(itemsIn(transcript.compile())).toEqual([[sign('a')]])
  })
})

/** A response with a tool call, and its items that have to be sent back, by provider. */
const providers: [name: string, response: object, items: unknown[]][] = [
  [
    'Anthropic',
    {
      content: [
        { type: 'thinking', thinking: '', signature: 'WaUjzkyp' },
        { type: 'redacted_thinking', data: 'EmwKAhgB' },
        { type: 'tool_use', id: 'c1', name: 'read', input: {} },
      ],
    },
    [
      { type: 'thinking', thinking: '', signature: 'WaUjzkyp' },
      { type: 'redacted_thinking', data: 'EmwKAhgB' },
    ],
  ],
  [
    'OpenAI',
    {
      output: [
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAA' },
        { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}' },
      ],
    },
    [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAA' }],
  ],
  [
    'Gemini',
    {
      candidates: [
        { content: { parts: [{ functionCall: { name: 'read', args: {} }, thoughtSignature: 'CiQB' }] } },
      ],
    },
    [{ functionCall: { name: 'read', args: {} }, thoughtSignature: 'CiQB' }],
  ],
  [
    'Bedrock',
    {
      output: {
        message: {
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm', signature: 'Eo0B' } } },
            { reasoningContent: { redactedContent: new Uint8Array([1, 2]) } },
            { toolUse: { toolUseId: 'c1', name: 'read', input: {} } },
          ],
        },
      },
    },
    [
      { reasoningContent: { reasoningText: { text: 'Hm', signature: 'Eo0B' } } },
      { reasoningContent: { redactedContent: 'AQI=' } },
    ],
  ],
  ...['Hm', ''].map((thought): (typeof providers)[number] => [
    `DeepSeek, which thought ${JSON.stringify(thought)}`,
    {
      choices: [
        {
          message: {
            content: '',
            reasoning_content: thought,
            tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }],
          },
        },
      ],
    },
    [{ reasoning_content: thought }],
  ]),
]

describe.for(providers)('of %s', ([, response, items]) => {
  test.for<[string, Partial<ModelClient>]>([
    ['a client that looks for reasoning', { extractReasoning }],
    ['one that does not', {}],
  ])('what is wanted comes back from %s', async ([, more]) => {
    const asked: (readonly PromptMessage[])[] = []
    const answers = [response, 'Done.']
    const generate: ModelClient['generate'] = (messages) => {
      asked.push(messages)
      return answers.shift()
    }
    const transcript = openTranscript({ client: { generate, ...more } })
    const { toolCalls } = await transcript.chat('What fails?')
    expect(toolCalls).toMatchObject([{ name: 'read', arguments: {} }])
    transcript.tool(toolCalls[0]?.id ?? '', 'nothing')
    await transcript.generate()
    expect(itemsIn(asked[1] ?? [])).toEqual([items])
  })
})

test('what a client has read from a stream is as good as a response', async () => {
  const toolCalls = [{ id: '', name: 'read', arguments: {} }]
  const read = {
    reasoning: 'Hm',
    source: 'reasoning_content',
    format: 'parsed',
    text: '',
    toolCalls,
    opaque: [],
  }
  const client = { generate: () => read, extractReasoning: (response: unknown) => response as Extraction }
  const transcript = openTranscript({ client })
  const response = await transcript.chat('What fails?')
  expect(response.reasoningCommit?.metadata).toEqual({ source: 'reasoning_content' })
  expect(itemsIn(transcript.compile())).toEqual([[{ reasoning_content: 'Hm' }]])
})

test('calls without ids, or with the same, get ids of their own', async () => {
  const call = (id: string) => ({ id, name: 'read', arguments: {} })
  const generate = () => ({ text: '', toolCalls: [call(''), call('a'), call('a'), call('')] })
  const transcript = openTranscript({ client: { generate } })
  const { toolCalls, commit } = await transcript.chat('What fails?')
  expect(toolCalls.map(({ id }) => id)).toEqual(['call-0', 'a', 'a-2', 'call-3'])
  expect(commit.content.toolCalls).toEqual(toolCalls)
  for (const { id } of toolCalls) transcript.tool(id, 'nothing')
})
