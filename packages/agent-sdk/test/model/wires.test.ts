import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { describe, expect, test } from 'vitest'
import { stage } from './stage.js'
import { block, event, message, wire } from './wire.js'

test('Anthropic gets its thinking back as it sent it, over its own wire', async () => {
  const answers = [
    message(
      'tool_use',
      block(
        0,
        { type: 'thinking', thinking: '' },
        { type: 'thinking_delta', thinking: 'The sum ' },
        { type: 'thinking_delta', thinking: 'is needed.' },
        { type: 'signature_delta', signature: 'EqoB+signed/==' },
      ),
      block(1, { type: 'redacted_thinking', data: 'EmwK+opaque' }),
      block(2, { type: 'text', text: '' }, { type: 'text_delta', text: 'Adding.' }),
      block(
        3,
        { type: 'tool_use', id: 'toolu_1', name: 'desk__add', input: {} },
        { type: 'input_json_delta', partial_json: '{"_rationale":"to know","a":2,' },
        { type: 'input_json_delta', partial_json: '"b":3}' },
      ),
    ),
    message('end_turn', block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'It is 5.' })),
  ]
  const { bodies, settings: reached } = wire<{ messages: { role: string; content: unknown }[] }>(answers)
  const anthropic = createAnthropic(reached)
  const settings = { providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2000 } } } }
  await using here = await stage([], { model: anthropic('claude-sonnet-4-5'), settings })
  expect(await here.ask()).toBe('It is 5.')
  expect(bodies[1]?.messages[1]).toEqual({
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'The sum is needed.', signature: 'EqoB+signed/==' },
      { type: 'redacted_thinking', data: 'EmwK+opaque' },
      { type: 'text', text: 'Adding.' },
      { type: 'tool_use', id: 'toolu_1', name: 'desk__add', input: { _rationale: 'to know', a: 2, b: 3 } },
    ],
  })
})

test('OpenAI gets its encrypted reasoning back, with the call that follows it', async () => {
  const reasoning = { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAAA+opaque', summary: [] }
  const call = {
    ...{ type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'desk__add', status: 'completed' },
    arguments: '{"_rationale":"to know","a":2,"b":3}',
  }
  const said = { type: 'message', id: 'msg_1', role: 'assistant', content: [] }
  const response = { id: 'resp', created_at: 1, model: 'gpt-5', service_tier: null, output: [] }
  const usage = { input_tokens: 5, output_tokens: 7, output_tokens_details: { reasoning_tokens: 3 } }
  const begin = event({ type: 'response.created', response })
  const end = event({
    type: 'response.completed',
    response: { ...response, usage, incomplete_details: null },
  })
  const added = (output_index: number, item: object) =>
    event({ type: 'response.output_item.added', output_index, item })
  const done = (output_index: number, item: object) =>
    event({ type: 'response.output_item.done', output_index, item })
  const { bodies, settings: reached } = wire<{ input: object[] }>([
    [
      begin,
      added(0, { ...reasoning, encrypted_content: 'gAAAA+early' }),
      event({ type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index: 0 }),
      event({
        type: 'response.reasoning_summary_text.delta',
        item_id: 'rs_1',
        summary_index: 0,
        delta: 'A sum.',
      }),
      done(0, reasoning),
      added(1, { ...call, arguments: '' }),
      done(1, call),
      end,
    ].join(''),
    [
      begin,
      added(0, said),
      event({ type: 'response.output_text.delta', item_id: 'msg_1', delta: 'It is 5.' }),
      done(0, said),
      end,
    ].join(''),
  ])
  const settings = {
    providerOptions: {
      openai: { store: false, include: ['reasoning.encrypted_content'], reasoningSummary: 'auto' },
    },
  }
  await using here = await stage([], { model: createOpenAI(reached)('gpt-5'), settings })
  expect(await here.ask()).toBe('It is 5.')
  const thoughts = here.heard.all.filter(({ kind }) => kind === 'reasoning.thought')
  expect(thoughts.map(({ payload }) => payload)).toEqual([{ message: 'A sum.' }])
  expect(bodies[1]?.input.slice(2)).toMatchObject([
    { type: 'reasoning', encrypted_content: 'gAAAA+opaque', summary: [{ text: 'A sum.' }] },
    { type: 'function_call', call_id: 'call_1', arguments: call.arguments },
    { type: 'function_call_output', call_id: 'call_1', output: '5' },
  ])
})

describe('an image that a tool gives back', () => {
  const content = [{ type: 'image', data: 'iVBORw0KGgoA', mimeType: 'image/png' }]

  test('is on the wire of Anthropic, as an image', async () => {
    const use = { type: 'tool_use', id: 'toolu_1', name: 'desk__snap', input: {} }
    const answers = [
      message('tool_use', block(0, use, { type: 'input_json_delta', partial_json: '{}' })),
      message('end_turn', block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'A dot.' })),
    ]
    const { bodies, settings } = wire<{ messages: { content: unknown }[] }>(answers)
    await using here = await stage([], { model: createAnthropic(settings)('claude-sonnet-4-5') })
    here.desk.tool('snap', {}, () => ({ content }))
    expect(await here.ask()).toBe('A dot.')
    expect(bodies[1]?.messages.at(-1)?.content).toMatchObject([
      {
        type: 'tool_result',
        content: [
          { type: 'text', text: '[image image/png, 9 bytes: follows]' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgoA' } },
        ],
      },
    ])
  })

  test('is a line on that of Chat Completions, which has no place for it', async () => {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', created: 1, model: 'gpt', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    const call = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'desk__snap', arguments: '{}' },
    }
    const { bodies, settings } = wire<{ messages: { content: unknown }[] }>([
      `${chunk({ role: 'assistant', tool_calls: [call] })}${chunk({}, 'tool_calls')}data: [DONE]\n\n`,
      `${chunk({ role: 'assistant', content: 'A dot.' })}${chunk({}, 'stop')}data: [DONE]\n\n`,
    ])
    await using here = await stage([], { model: createOpenAI(settings).chat('gpt-4o') })
    here.desk.tool('snap', {}, () => ({ content }))
    expect(await here.ask()).toBe('A dot.')
    expect(bodies[1]?.messages.at(-1)?.content).toMatch(
      /^\[image image\/png, 9 bytes: not shown to this model; see envelope \S+\]$/,
    )
  })
})
