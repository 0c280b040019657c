import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import type { AgentOptions } from '@meup/agent-sdk'
import { FakeClock } from '@meup/gateway/testing'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import {
  calling,
  completion,
  delta,
  events,
  failing,
  saying,
  serveModel,
} from '../../../../test/support/model-server.js'
import { NoAnswerError } from '../../src/model/errors.js'
import { eventually } from '../support/eventually.js'
import { getToolCalls, listStory, stage } from './stage.js'
import { begin, event } from './wire.js'

describe('tools that change in the middle of a turn:', () => {
  const schema = (key: string) => ({ type: 'object', properties: { [key]: { type: 'number' } } })
  const tool = (name: string, key = 'a') => ({ name, inputSchema: schema(key) })

  /** An agent whose model calls two tools of bob; bob changes his tool list during the first call. */
  async function changed(before: readonly object[], after: readonly object[], second: string) {
    const { baseURL, requests } = await serveModel([
      calling('bob__first', { a: 1 }),
      calling(second, { a: 2 }),
      saying('done'),
    ])
    const here = await stage([], { model: 'm', baseURL, tools: ['bob/*'] })
    let tools = before
    here.bob.serve(async ({ payload: { method } }) => {
      if (method === 'tools/list') return { result: { tools } }
      if (method !== 'tools/call') return { result: {} }
      if (tools !== after) {
        tools = after
        await here.bob.send({
          kind: Kind.mcpRequest,
          to: ['bot'],
          payload: { method: 'notifications/tools/list_changed' },
        })
      }
      return { result: { content: [{ type: 'text', text: 'ok' }] } }
    })
    const answer = await here.ask()
    const offered = requests.map(({ body }) =>
      (body.tools as readonly { readonly function: { readonly name: string } }[] | undefined)?.map(
        (each) => each.function.name,
      ),
    )
    const last = requests.at(-1)?.body.messages.at(-1)?.content
    await here[Symbol.asyncDispose]()
    return { answer, offered, last, calls: getToolCalls(here), story: listStory(here.heard) }
  }

  test('one that is new is offered with the next step, and called', async () => {
    const found = await changed([tool('first')], [tool('first'), tool('late')], 'bob__late')
    expect(found).toMatchObject({
      answer: 'done',
      offered: [['bob__first'], ['bob__first', 'bob__late'], ['bob__first', 'bob__late']],
      calls: [
        { name: 'first', arguments: { a: 1 } },
        { name: 'late', arguments: { a: 2 } },
      ],
      last: 'ok',
    })
  })

  test('one that is gone is not called; the model is told', async () => {
    const found = await changed([tool('first'), tool('late')], [tool('first')], 'bob__late')
    expect(found).toMatchObject({
      answer: 'done',
      offered: [['bob__first', 'bob__late'], ['bob__first'], ['bob__first']],
      calls: [{ name: 'first' }],
      last: 'there is no tool bob__late',
    })
  })

  test('all of them are gone', async () => {
    const found = await changed([tool('first')], [], 'bob__first')
    expect(found).toMatchObject({
      answer: 'done',
      offered: [['bob__first'], undefined, undefined],
      calls: [{ name: 'first' }],
      last: 'there is no tool bob__first',
    })
  })

  test('one that takes other arguments is told to the room, and called with those', async () => {
    const found = await changed([tool('first')], [tool('first', 'b')], 'bob__first')
    expect(found).toMatchObject({ answer: 'done', calls: [{}, { arguments: { a: 2 } }] })
    expect(found.story.filter((line) => line.startsWith('reasoning.thought'))).toEqual([
      'reasoning.thought: The definition of a tool has changed since I was offered it: bob/first',
    ])
  })
})

describe('a model that never stops thinking', () => {
  function* thoughts(toDelta: (text: string) => object, numbers = 1): Generator<string> {
    for (let first = 0; ; first += numbers) {
      const counted = Array.from({ length: numbers }, (_, i) => first + i).join(' ')
      yield events(delta(toDelta(`RAW THOUGHT ${counted} `)))
    }
  }
  test.for<[name: string, toDelta: (text: string) => object]>([
    ['in a field', (reasoning_content) => ({ reasoning_content })],
    ['in another field', (reasoning) => ({ reasoning })],
    ['in tags', (text) => ({ content: text.replace('RAW THOUGHT 0 ', '<think>RAW THOUGHT ') })],
  ])('%s is ended after the time of its limits; the asker is told', async ([, toDelta]) => {
    const { baseURL, requests } = await serveModel([{ body: thoughts(toDelta) }])
    const clock = new FakeClock()
    await using here = await stage([], { model: 'm', baseURL, clock, limits: { turnMs: 5000 } })
    const { message: why } = new NoAnswerError('time_limit', { limit: 5000 })
    const asked = here.ask()
    await eventually(() => expect(requests).toHaveLength(1))
    clock.advance(5000)
    expect(await asked).toBe(`I could not answer: ${why}`)
    expect(listStory(here.heard)).toContain(`reasoning.cancel: ${why}`)
    expect(JSON.stringify(here.heard.all)).not.toContain('RAW THOUGHT')
    expect(requests).toHaveLength(1)
  })

  test('and is quick is ended after 4,000,000 characters', async () => {
    const body = thoughts((reasoning_content) => ({ reasoning_content }), 20_000)
    const { baseURL, requests } = await serveModel([{ body }])
    await using here = await stage([], { model: 'm', baseURL })
    const { message: why } = new NoAnswerError('endless', { limit: 4_000_000 })
    expect(await here.ask()).toBe(`I could not answer: ${why}`)
    expect(listStory(here.heard)).toContain(`reasoning.cancel: ${why}`)
    expect(requests).toHaveLength(1)
    expect(here.troubles).toContainEqual(expect.objectContaining({ code: 'endless' }))
  })
})

describe('an error that comes as a stream, after half an answer:', () => {
  const half = 'The sum is'
  const why = 'the backend is out of memory'
  const openai = (baseURL: string) => ({ model: createOpenAI({ baseURL, apiKey: 'none' }).responses('m') })
  const response = { id: 'resp', created_at: 1, model: 'm', service_tier: null, output: [] }
  const responding = [
    event({ type: 'response.created', response }),
    event({
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'message', id: 'msg_1', role: 'assistant', content: [] },
    }),
    event({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: half }),
  ].join('')
  const error = { code: 'server_error', message: why }
  test.for<[name: string, at: (baseURL: string) => Partial<AgentOptions>, body: string]>([
    ['chat', (baseURL) => ({ model: 'm', baseURL }), events(delta({ content: half }), { error })],
    [
      'chat, and then the usual end',
      (baseURL) => ({ model: 'm', baseURL }),
      events(delta({ content: half }), { error }, delta({}, 'stop'), '[DONE]'),
    ],
    ['responses', openai, responding + event({ type: 'error', sequence_number: 4, ...error, param: null })],
    [
      'responses that fail',
      openai,
      responding +
        event({
          type: 'response.failed',
          sequence_number: 4,
          response: { ...response, status: 'failed', error },
        }),
    ],
    [
      'Anthropic',
      (baseURL) => ({ model: createAnthropic({ baseURL, apiKey: 'none' })('m') }),
      begin +
        event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }) +
        event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: half } }) +
        event({ type: 'error', error: { type: 'api_error', message: why } }),
    ],
  ])('%s', async ([, at, body]) => {
    const { baseURL, requests } = await serveModel([{ body }])
    await using here = await stage([], { ...at(baseURL), settings: { maxRetries: 0 } })
    const answer = await here.ask()
    expect(answer).toMatch(/^I could not answer: m (?:of|at) \S+ failed: the backend is out of memory$/)
    expect(listStory(here.heard).filter((line) => line.startsWith('chat'))).toEqual([`chat: ${answer}`])
    expect(requests).toHaveLength(1)
  })
})

describe('several instructions', () => {
  const instructions = 'Answer in one word.'

  test('of the developer and of servers of tools are one system message, the first', async () => {
    const { baseURL, requests } = await serveModel([saying('Five.')])
    await using here = await stage([], { model: 'm', baseURL, instructions, tools: ['bob/*'] })
    here.bob.serve(async ({ payload: { method } }) =>
      method === 'initialize'
        ? { result: { instructions: 'Say the path first.' } }
        : { result: { tools: [{ name: 'paint', inputSchema: { type: 'object' } }] } },
    )
    expect(await here.ask()).toBe('Five.')
    const { messages = [] } = requests[0]?.body ?? {}
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user'])
    expect(messages[0]?.content).toMatch(/Answer in one word\..*Say the path first\./s)
  })

  test('of the developer and of a provider’s settings are both sent, each in its place', async () => {
    const { baseURL, requests } = await serveModel([failing(400, 'enough')])
    const model = createOpenAI({ baseURL, apiKey: 'none' }).responses('gpt-4.1')
    const settings = { providerOptions: { openai: { instructions: 'Speak as the shop does.' } } }
    await using here = await stage([], { model, instructions, settings })
    await here.ask()
    const input = requests[0]?.body.input as readonly { readonly role: string; readonly content: unknown }[]
    expect(requests[0]?.body.instructions).toBe('Speak as the shop does.')
    expect(input.map(({ role }) => role)).toEqual(['system', 'user'])
    expect(input[0]?.content).toContain(instructions)
  })
})

test.for([
  [' '],
  ['\n\n', ' \t', '\r\n'],
  ['\u00a0\u3000\u2028'],
  ['\u200b', '\ufeff'],
  ['\u00ad\u2060 \u200d'],
  ['<think></think>\n\n'],
  ['\n<|im_end|>\n'],
])('an answer of nothing but white space is none: %j', async (pieces) => {
  const { baseURL, requests } = await serveModel([
    { body: completion('stop', ...pieces.map((content) => ({ content }))) },
  ])
  await using here = await stage([], { model: 'm', baseURL })
  const { message: why } = new NoAnswerError('no_text', {})
  expect(await here.ask()).toBe(`I could not answer: ${why}`)
  expect(listStory(here.heard)).toEqual([
    'reasoning.start',
    `reasoning.cancel: ${why}`,
    `chat: I could not answer: ${why}`,
  ])
  expect(requests).toHaveLength(1)
})
