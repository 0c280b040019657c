import { inspect } from 'node:util'
import type { AgentOptions } from '@meup/agent-sdk'
import { describe, expect, test } from 'vitest'
import {
  calling,
  completion,
  type ModelReply,
  saying,
  serveModel,
} from '../../../../test/support/model-server.js'
import { listStory, stage } from './stage.js'

describe('a model at a baseURL', () => {
  test('thinks, calls a tool and answers; its key goes along', async () => {
    const { baseURL, requests } = await serveModel([
      calling('desk__add', { _rationale: 'to know', a: 2, b: 3 }, { content: 'Adding.' }),
      saying('It is 5.'),
    ])
    await using here = await stage([], { model: 'qwen3', baseURL, apiKey: 'k-1' })
    expect(await here.ask()).toBe('It is 5.')
    expect(listStory(here.heard)).toEqual([
      'reasoning.start',
      'reasoning.thought: Adding.',
      'mcp.request add: to know',
      'reasoning.conclusion',
      'chat: It is 5.',
    ])
    expect(requests.map(({ path, headers, body }) => [path, headers.authorization, body.model])).toEqual([
      ['/v1/chat/completions', 'Bearer k-1', 'qwen3'],
      ['/v1/chat/completions', 'Bearer k-1', 'qwen3'],
    ])
    expect(requests[1]?.body.messages.at(-1)).toMatchObject({ role: 'tool', content: '5' })
    const { payload } = await here.heard.until(({ kind }) => kind === 'reasoning.conclusion')
    expect(payload).toMatchObject({ metadata: { model: 'qwen3', tokens: { input: 10, output: 14 } } })
    const { payload: begun } = await here.heard.until(({ kind }) => kind === 'reasoning.start')
    // The address of the server is not public: only its operator may know it.
    const named = { model: 'qwen3', provider: 'openai-compatible', modelFull: 'openai-compatible/qwen3' }
    expect(begun).toEqual({ metadata: named })
  })

  test('gets a key without the line break that its file ends with', async () => {
    const { baseURL, requests } = await serveModel([saying('Hello.')])
    await using here = await stage([], { model: 'qwen3', baseURL, apiKey: 'k-1\n' })
    expect(await here.ask()).toBe('Hello.')
    expect(requests[0]?.headers.authorization).toBe('Bearer k-1')
  })

  test('is not begun with a key that no header can hold, which nothing quotes', async () => {
    const { baseURL } = await serveModel([])
    await using here = await stage([])
    const begun = here.bot.agent({ model: 'qwen3', baseURL, apiKey: 'acme-gateway-7731\nteam-blue' })
    const error = await begun.catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'not_configured' })
    expect(inspect(error)).not.toMatch(/acme|blue/)
  })

  /** Lets a request fail. Returns the answer to the asker, and everything that the log and the operator get. */
  async function failing(reply: ModelReply, options: Partial<AgentOptions>) {
    const { baseURL } = await serveModel([reply])
    const settings = { maxRetries: 0, ...options.settings }
    await using here = await stage([], { model: 'qwen3', baseURL, ...options, settings })
    const answer = await here.ask()
    return { answer, all: `${JSON.stringify(here.heard.all)} ${inspect(here.troubles, { depth: 9 })}` }
  }

  test.for<[name: string, reply: ModelReply, options: Partial<AgentOptions>]>([
    [
      'a reason that the server gives',
      { status: 400, body: JSON.stringify({ error: { message: 'no team for acme-gateway-7731' } }) },
      { apiKey: 'acme-gateway-7731' },
    ],
    [
      'a body beside the reason',
      { status: 500, body: '{"error":{"message":"oops"},"seen":"Bearer acme-gateway-7731"}' },
      { apiKey: 'acme-gateway-7731' },
    ],
    [
      'a header of the settings that no header can hold',
      { body: '' },
      { settings: { headers: { 'x-team': 'acme-gateway-7731\nteam' } } },
    ],
  ])('quotes no credential to anybody: %s', async ([, reply, options]) => {
    const { answer, all } = await failing(reply, options)
    expect(answer).toMatch(/^I could not answer: /)
    expect(all).not.toContain('acme-gateway')
  })

  test('needs no key', async () => {
    const { baseURL, requests } = await serveModel([saying('Hello.')])
    await using here = await stage([], { model: 'qwen3', baseURL })
    expect(await here.ask()).toBe('Hello.')
    expect(requests[0]?.headers.authorization).toBeUndefined()
  })

  test('whose thought is in two fields, beside the answer, thinks it once', async () => {
    const thought = 'The sum is known to all.'
    const both = { reasoning: thought, reasoning_content: thought, content: 'It is 5.' }
    const { baseURL } = await serveModel([{ body: completion('stop', both) }])
    const shown = { reasoningIsSummary: true }
    await using here = await stage([], { model: 'qwen3', baseURL, ...shown })
    expect(await here.ask()).toBe('It is 5.')
    expect(listStory(here.heard)).toContain(`reasoning.thought: ${thought}`)
    expect(JSON.stringify(here.heard.all).split(thought)).toHaveLength(2)
  })

  test('has a name', async () => {
    const baseURL = 'http://127.0.0.1:9/v1'
    await using here = await stage([])
    const unnamed = here.bot.agent({ model: here.model, baseURL })
    await expect(unnamed).rejects.toMatchObject({ code: 'not_configured', details: { option: 'model' } })
  })

  test.each([
    'localhost',
    'localhost:11434/v1',
    '127.0.0.1:11434',
    'ftp://127.0.0.1/v1',
    'http://a:99999/v1',
  ])('is not begun at an address that nothing can be fetched from: %s', async (baseURL) => {
    await using here = await stage([])
    const begun = here.bot.agent({ model: 'qwen3', baseURL })
    await expect(begun).rejects.toMatchObject({ code: 'not_configured', details: { option: 'baseURL' } })
  })

  test.each([
    'http://me:acme-7731@127.0.0.1/v1',
    'https://acme-7731@a.example/v1',
    'me:acme-7731@a.example/v1',
  ])('is not begun at an address with a password, which nothing quotes: %s', async (baseURL) => {
    await using here = await stage([])
    const begun = here.bot.agent({ model: 'qwen3', baseURL })
    const error = await begun.catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'not_configured', details: { option: 'baseURL' } })
    expect(inspect(error)).not.toContain('acme')
  })
})
