import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import type { AgentOptions } from '@meup/agent-sdk'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  calling,
  completion,
  delta,
  events,
  failing,
  type ModelReply,
  saying,
  serveModel,
} from '../../../../test/support/model-server.js'
import { times } from '../../../../test/support/soak.js'
import { listStory, noAnswer, stage } from './stage.js'

/** Options for a model via a provider's own package, or via the package for OpenAI-compatible servers. */
const providers: readonly [name: string, at: (baseURL: string) => Partial<AgentOptions>][] = [
  ['anthropic', (baseURL) => ({ model: createAnthropic({ baseURL, apiKey: 'wrong' })('claude-sonnet-4-5') })],
  ['openai', (baseURL) => ({ model: createOpenAI({ baseURL, apiKey: 'wrong' }).responses('gpt-5') })],
  ['another', (baseURL) => ({ model: 'qwen3', baseURL, apiKey: 'wrong' })],
]

test('no key at all is told in one line, with what to set; it is printed without a stack', async () => {
  for (const name of ['AI_GATEWAY_API_KEY', 'VERCEL_OIDC_TOKEN', 'ANTHROPIC_API_KEY'])
    vi.stubEnv(name, undefined)
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => {
    vi.unstubAllEnvs()
    printed.mockRestore()
  })
  await using here = await stage([])
  void here.desk.agent({ model: 'anthropic/claude', tools: [] })
  const { text } = await here.ana.ask('Hello?', { to: ['desk'] })
  const sentence = 'anthropic/claude needs a valid key. Set AI_GATEWAY_API_KEY where the agent runs.'
  expect(text).toBe(`I could not answer: ${sentence}`)
  expect(printed.mock.calls).toEqual([['agent:', sentence]])
})

describe.for(providers)('%s', ([name, at]) => {
  const asked = async (...replies: readonly ModelReply[]) => {
    const { baseURL, requests } = await serveModel(replies)
    const { model = '' } = at(baseURL)
    const title = typeof model === 'string' ? `${model} at ${baseURL}` : `${model.modelId} of ${name}`
    await using here = await stage([], at(baseURL))
    const answer = await here.ask()
    const said = answer.replace('I could not answer: ', '').replace(title, '*')
    expect(listStory(here.heard).at(-2)).toBe(answer.replace('I could not answer', 'reasoning.cancel'))
    expect(here.troubles).toHaveLength(1)
    return { said, count: requests.length }
  }
  const error = (status: number, message: string, headers = {}): ModelReply =>
    failing(status, message, headers)

  test('a wrong key is told, but not quoted; it is not tried again', async () => {
    expect(await asked(error(401, 'wrong is no key'))).toEqual({
      said: '* answered 401. It needs a valid API key.',
      count: 1,
    })
  })

  test('a key that may not', async () => {
    const { said } = await asked(error(403, 'no'))
    expect(said).toMatch(/^\* answered 403: no\. Its API key may not use /)
  })

  test('a request that is refused, with the reason', async () => {
    expect(await asked(error(400, 'this is not allowed'))).toEqual({
      said: '* answered 400: this is not allowed',
      count: 1,
    })
  })

  test('too many requests three times: tried again when it says, then given up', async () => {
    const busy = error(429, 'too many requests', { 'retry-after-ms': '10' })
    expect(await asked(busy, busy, busy)).toEqual({
      said: '* answered 429 3 times: too many requests. Ask again in 1 s.',
      count: 3,
    })
  })

  test('an error that makes no sense', async () => {
    const down: ModelReply = { status: 502, headers: { 'retry-after-ms': '10' }, body: '<html>{' }
    expect(await asked(down, down, down)).toEqual({
      said: '* answered 502 3 times: Bad Gateway. Ask again in 1 s.',
      count: 3,
    })
  })
})

describe('a server', () => {
  test('that is busy for a moment', async () => {
    const busy = failing(429, 'too many requests', { 'retry-after-ms': '10' })
    const { baseURL } = await serveModel([busy, busy, saying('It is 5.')])
    await using here = await stage([], { model: 'qwen3', baseURL })
    expect(await here.ask()).toBe('It is 5.')
    expect(here.troubles).toEqual([])
  })

  test('that is not there', async () => {
    const settings = { maxRetries: 0 }
    await using here = await stage([], { model: 'qwen3', baseURL: 'http://127.0.0.1:9/v1', settings })
    expect(await here.ask()).toMatch(
      /^I could not answer: qwen3 at http:\/\/127\.0\.0\.1:9\/v1 cannot be reached: /,
    )
  })

  test('that never answers', async () => {
    const { baseURL } = await serveModel([{ body: '', end: 'open' }])
    await using here = await stage([], { model: 'qwen3', baseURL, limits: { turnMs: 200 } })
    expect(await here.ask()).toBe(noAnswer('time_limit', { limit: 200 }))
  })
})

const half = { tool_calls: [{ index: 0, id: 'c', function: { name: 'desk__add', arguments: '{"a":2,"b' } }] }
const unfinished = noAnswer('broken_off', { model: 'qwen3 at *', ending: 'without a finish reason' })
const looped = noAnswer('repetition', {})
const nothing = 'I could not answer: qwen3 at * ended its answer before it began'
const nonsense = 'I could not answer: qwen3 at * sent an invalid response'

function* forever(...pieces: readonly string[]): Generator<string> {
  for (;;) yield* pieces
}
const loop = (fields: object): ModelReply => ({ body: forever(events(delta(fields))) })

describe('a model', () => {
  test.for<[name: string, reply: ModelReply, why: string]>([
    ['whose connection breaks in a call', { body: events(delta(half)), end: 'cut' }, unfinished],
    ['whose stream ends in a call', { body: events(delta(half)) }, unfinished],
    ['that answers nothing', { body: completion('stop') }, noAnswer('no_text', {})],
    ['that sends nothing', { body: '' }, nothing],
    ['that sends half a chunk', { body: events(delta({ content: 'It' }), '{"choices": [{"delta') }, nonsense],
    ['that sends another form', { body: events({ choices: 'secret' }) }, nonsense],
    [
      'that sends no stream',
      { headers: { 'content-type': 'text/html' }, body: '<html>' },
      'I could not answer: qwen3 at * answered with a web page. Check its address, and whether it needs a login.',
    ],
    ['that repeats itself', loop({ content: 'And so on. ' }), looped],
    ['that thinks in circles', loop({ reasoning: 'Hm. ' }), looped],
    [
      'that repeats itself in a call',
      {
        body: (function* () {
          yield events(
            delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'desk__add', arguments: '{' } }] }),
          )
          yield* forever(
            events(delta({ tool_calls: [{ index: 0, function: { arguments: '\n'.repeat(times(16, 1)) } }] })),
          )
        })(),
      },
      looped,
    ],
    [
      'that says in the midst of it that it failed',
      { body: events(delta({ content: 'It' }), { error: { message: 'out of memory' } }) },
      'I could not answer: qwen3 at * failed: out of memory',
    ],
  ])('%s', async ([, reply, why]) => {
    const { baseURL, requests } = await serveModel([reply])
    await using here = await stage([], { model: 'qwen3', baseURL, settings: { maxRetries: 0 } })
    expect((await here.ask()).replace(baseURL, '*')).toBe(why)
    expect(JSON.stringify(here.heard.all)).not.toContain('secret')
    expect(requests).toHaveLength(1)
  })

  test('that is cut off in a call is told so; cut off again, it is given up', async () => {
    const cut: ModelReply = { body: completion('length', half) }
    const { baseURL, requests } = await serveModel([cut, cut])
    await using here = await stage([], { model: 'qwen3', baseURL })
    expect(await here.ask()).toMatch(/^I could not answer: the model keeps making invalid tool/)
    expect(JSON.stringify(requests[1]?.body.messages.at(-1))).toMatch(
      /the arguments of desk__add are not a JSON object, or are cut off: /,
    )
    expect(listStory(here.heard).some((line) => line.startsWith('mcp.'))).toBe(false)
  })

  test('that calls the same tool for ever', async () => {
    const { baseURL } = await serveModel(() => calling('desk__add', { a: 1, b: 1 }))
    await using here = await stage([], { model: 'qwen3', baseURL, limits: { steps: 5 } })
    expect(await here.ask()).toBe(noAnswer('step_limit', { limit: 5 }))
  })
})
