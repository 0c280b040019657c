import { createAnthropic } from '@ai-sdk/anthropic'
import { scriptedModel } from '@meup/agent-sdk/ai'
import { FakeClock } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import {
  type ChatBody,
  calling,
  delta,
  events,
  failing,
  type ModelReply,
  saying,
  serveModel,
} from '../../../../test/support/model-server.js'
import { eventually } from '../support/eventually.js'
import { listStory, stage } from './stage.js'
import { block, message } from './wire.js'

/** A server with three models; each has its own script. */
const serveThree = (scripts: Readonly<Record<string, (body: ChatBody) => ModelReply>>) =>
  serveModel((body) => scripts[body.model]?.(body) ?? failing(404, `no ${body.model}`))

const fallback = ['second', 'third']

describe('another model answers where one', () => {
  test.each<[name: string, reply: ModelReply, why: string]>([
    ['is down', failing(503, 'overloaded'), 'answered 503: overloaded'],
    ['is over its limit', failing(429, 'slow down', { 'retry-after': '3600' }), 'answered 429: slow down'],
    ['refuses its input', failing(400, 'not this'), 'answered 400: not this'],
    ['is not there', failing(404, 'no first'), 'answered 404: no first'],
    [
      'fails in the midst of it',
      { body: events(delta({ content: 'It' }), { error: { message: 'oops' } }) },
      'failed: oops',
    ],
    ['ends before it begins', { body: '' }, 'ended its answer before it began'],
  ])('%s: the run says so', async (_, reply, why) => {
    const { baseURL, requests } = await serveThree({ first: () => reply, second: () => saying('It is 5.') })
    await using here = await stage([], { model: 'first', baseURL, fallback })
    expect(await here.ask()).toBe('It is 5.')
    expect(requests.map(({ body }) => body.model)).toEqual(['first', 'second'])
    expect(listStory(here.heard)).toEqual([
      'reasoning.start',
      `reasoning.thought: first at ${baseURL} ${why}; second at ${baseURL} answers instead.`,
      'reasoning.conclusion',
      'chat: It is 5.',
    ])
    const { payload } = await here.heard.until(({ kind }) => kind === 'reasoning.conclusion')
    expect(payload).toMatchObject({ metadata: { model: 'second', stepUsage: [{ model: 'second' }] } })
  })

  test('says nothing', async () => {
    const clock = new FakeClock()
    const { baseURL, requests } = await serveThree({
      first: () => ({ body: '', end: 'open' }),
      second: () => saying('It is 5.'),
    })
    await using here = await stage([], { model: 'first', baseURL, fallback, clock })
    const answer = here.ask()
    await eventually(() => expect(requests).toHaveLength(1))
    clock.advance(60_000)
    clock.advance(60_000)
    expect(await answer).toBe('It is 5.')
    // The failed model is not used for the next question, but again after some time.
    expect(await here.ask()).toBe('It is 5.')
    expect(requests.map(({ body }) => body.model)).toEqual(['first', 'second', 'second'])
    clock.advance(61_000)
    here.ask().catch(() => {}) // The space closes before it answers.
    await eventually(() => expect(requests.at(-1)?.body.model).toBe('first'))
  })
})

test('the models are tried in their order; of the last one, all learn why', async () => {
  const { baseURL, requests } = await serveThree({
    first: () => failing(500, 'one'),
    second: () => failing(500, 'two'),
    third: () => failing(500, 'three'),
  })
  await using here = await stage([], { model: 'first', baseURL, fallback, settings: { maxRetries: 0 } })
  expect(await here.ask()).toBe(
    `I could not answer: third at ${baseURL} answered 500: three. Ask again later.`,
  )
  expect(requests.map(({ body }) => body.model)).toEqual(['first', 'second', 'third'])
  expect(listStory(here.heard).filter((line) => line.includes('answers instead'))).toHaveLength(2)
})

test('what only the first one may read is not sent to the second; the conversation goes on', async () => {
  const thought = { type: 'thinking_delta', thinking: 'A sum.' }
  const signed = { type: 'signature_delta', signature: 'c2lnbmVk' }
  const use = { type: 'tool_use', id: 'toolu_1', name: 'desk__add', input: {} }
  const replies = [
    message(
      'tool_use',
      block(0, { type: 'thinking', thinking: '' }, thought, signed),
      block(1, use, { type: 'input_json_delta', partial_json: '{"a":2,"b":3}' }),
    ),
  ]
  const fetch = async () => {
    const reply = replies.shift()
    return reply === undefined
      ? Response.json({ error: { message: 'Overloaded' } }, { status: 529 })
      : new Response(reply, { headers: { 'content-type': 'text/event-stream' } })
  }
  const second = scriptedModel([[{ text: 'It is 5.' }]])
  const first = createAnthropic({ apiKey: 'none', fetch })('claude-sonnet-4-5')
  await using here = await stage([], { model: first, fallback: [second] })
  expect(await here.ask()).toBe('It is 5.')
  const sent = second.requests[0]?.prompt.slice(2)
  expect(sent).toMatchObject([
    { role: 'assistant', content: [{ type: 'tool-call', toolName: 'desk__add' }] },
    { role: 'tool', content: [{ output: { value: '5' } }] },
  ])
  expect(JSON.stringify(sent)).not.toMatch(/c2lnbmVk|A sum/)
})

test('each has its own terms', async () => {
  const { baseURL, requests } = await serveThree({
    first: (body) =>
      body.stream_options === undefined
        ? calling('desk__add', { a: 2, b: 3 })
        : failing(400, 'no stream_options'),
    second: () => saying('It is 5.'),
  })
  await using here = await stage([], { model: 'first', baseURL, fallback })
  here.ask().catch(() => {}) // The space closes before it answers.
  await eventually(() => expect(requests.length).toBeGreaterThan(2))
  expect(requests.map(({ body }) => [body.model, 'stream_options' in body]).slice(0, 3)).toEqual([
    ['first', true],
    ['first', false],
    ['first', false],
  ])
})
