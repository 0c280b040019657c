import type { AgentOptions } from '@meup/agent-sdk'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  type ChatBody,
  calling,
  completion,
  failing,
  type ModelReply,
  saying,
  serveModel,
} from '../../../../test/support/model-server.js'
import { listStory, stage } from './stage.js'

type Rule = (body: ChatBody) => boolean

/** A server that refuses requests unless `isTaken`, with these words. Its model calls a tool, then answers. */
async function strict(isTaken: Rule, words: string, status = 400) {
  const refused: ChatBody[] = []
  const server = await serveModel((body): ModelReply => {
    if (!isTaken(body)) {
      refused.push(body)
      return failing(status, words)
    }
    const hasResult = body.messages.at(-1)?.role === 'tool'
    const canCall = JSON.stringify(body.tools ?? []).includes('desk__add')
    if (hasResult || !canCall) return saying('It is 5.')
    return calling('desk__add', { a: 2, b: 3 }, { reasoning_content: 'A sum.' })
  })
  return { ...server, refused }
}

/** Asks two questions: a refusal at the first one must not occur again at the second one. */
async function askTwice(isTaken: Rule, words: string, options: Partial<AgentOptions> = {}, status = 400) {
  const { baseURL, refused, requests } = await strict(isTaken, words, status)
  await using here = await stage([], { model: 'm', baseURL, settings: { maxRetries: 0 }, ...options })
  const answers = [await here.ask(), await here.ask()]
  return { answers, refused, requests, story: listStory(here.heard), troubles: here.troubles }
}

/** Redirects requests from an address to a server of the test. */
function reachAt(address: string, server: string): void {
  const { fetch } = globalThis
  vi.stubGlobal('fetch', (input: string, init: RequestInit) => fetch(input.replace(address, server), init))
  onTestFinished(() => {
    vi.unstubAllGlobals()
  })
}

const both = ['It is 5.', 'It is 5.']
const calls = ({ messages }: ChatBody) => messages.filter((each) => 'tool_calls' in each)

describe('what a provider refuses is sent otherwise, once, and so from then on', () => {
  test.each([
    'Extra inputs are not permitted: stream_options',
    'Unrecognized request argument supplied: stream_options',
    "{'type': 'extra_forbidden', 'loc': ['body', 'stream_options', 'include_usage']}",
  ])('a request for the tokens of a stream: %s', async (words) => {
    const { answers, refused } = await askTwice((body) => body.stream_options === undefined, words)
    expect(answers).toEqual(both)
    expect(refused).toHaveLength(1)
  })

  test.each([
    'The reasoning_content in the thinking mode must be passed back to the API.',
    'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
    'Param Incorrect: reasoning_content is required for assistant messages with tool_calls',
  ])('calls without their thoughts: %s', async (words) => {
    const isTaken: Rule = (body) => calls(body).every((each) => 'reasoning_content' in each)
    const { answers, refused, requests } = await askTwice(isTaken, words)
    expect(answers).toEqual(both)
    expect(refused).toHaveLength(1)
    expect(requests.at(-1)?.body.messages).toContainEqual(
      expect.objectContaining({ role: 'assistant', reasoning_content: 'A sum.' }),
    )
  })

  test.each([
    "property 'reasoning_content' is unsupported",
    'Extra inputs are not permitted: messages.2.assistant.reasoning_content',
    'unknown field `reasoning_content`',
  ])('thoughts, though most want them at this address: %s', async (words) => {
    const isTaken: Rule = (body) => calls(body).every((each) => !('reasoning_content' in each))
    const { baseURL, refused } = await strict(isTaken, words)
    reachAt('https://api.deepseek.com/v1', baseURL)
    await using here = await stage([], { model: 'm', baseURL: 'https://api.deepseek.com/v1' })
    expect([await here.ask(), await here.ask()]).toEqual(both)
    expect(refused).toHaveLength(1)
  })

  test.each([true, false])('but thoughts go back or not as the options say: %s', async (replayReasoning) => {
    const words = replayReasoning ? 'unknown field `reasoning_content`' : 'reasoning_content is missing'
    const isTaken: Rule = (body) =>
      calls(body).every((each) => 'reasoning_content' in each !== replayReasoning)
    const { answers } = await askTwice(isTaken, words, { replayReasoning })
    expect(answers[0]).toContain(`answered 400: ${words}`)
  })

  test.each([
    ['System role not supported', 400],
    ['Error rendering prompt with jinja template: Conversation roles must alternate user/assistant/…', 500],
    ['Only user and assistant roles are supported!', 400],
    ["Invalid role 'system'", 422],
  ])('a message of the system: %s, %i', async (words, status) => {
    const isTaken: Rule = ({ messages }) => messages.every(({ role }) => role !== 'system')
    const { answers, refused, requests } = await askTwice(isTaken, words, {}, status)
    expect(answers).toEqual(both)
    expect(refused).toHaveLength(1)
    expect(requests.at(-1)?.body.messages[0]?.content).toMatch(/^You are "bot"\..*ana: /s)
  })

  test.each([
    ['m does not support tools', 400],
    ['No endpoints found that support tool use.', 404],
    ['"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', 400],
    ['function calling is not supported by this model', 500],
    ['`tool calling` is not supported with this model', 400],
    ["'tools' are not supported by m", 422],
  ])('tools: %s, %i', async (words, status) => {
    const { answers, refused, story, troubles } = await askTwice(
      ({ tools }) => tools === undefined,
      words,
      {},
      status,
    )
    expect(answers).toEqual(both)
    expect(refused).toHaveLength(1)
    expect(story[1]).toMatch(/^reasoning\.thought: m at \S+ takes no tools, and answers without them\.$/)
    expect(troubles).toHaveLength(2)
  })

  test.each([
    "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
    '"m" does not support thinking',
    'Unrecognized request argument supplied: reasoning_effort',
  ])('how much it is to think: %s', async (words) => {
    const { baseURL, refused } = await strict((body) => body.reasoning_effort === undefined, words)
    await using here = await stage([], { model: 'm', baseURL })
    for (let turn = 0; turn < 2; turn++) {
      const asked = await here.ana.ask('Hello?', { to: ['bot'], thinkingLevel: 'low' })
      expect(asked.text).toBe('It is 5.')
    }
    // At most the first request is refused; none with version 6 of the `ai` package, which never sends the refused setting.
    expect(refused.length).toBeLessThanOrEqual(1)
  })

  test('other refusals are told, and not tried again', async () => {
    const { answers, refused } = await askTwice(() => false, 'this model is not for you')
    expect(answers[0]).toMatch(/^I could not answer: m at \S+ answered 400: this model is not for you$/)
    expect(refused).toHaveLength(2)
  })

  test('a server that wants one thing and its opposite is asked a few times', async () => {
    const { refused } = await askTwice(() => false, 'stream_options; roles must alternate; schema')
    expect(refused.length).toBeLessThan(12)
  })
})

describe('thoughts go back', () => {
  test.each([
    ['https://api.deepseek.com/v1', true],
    ['https://api.moonshot.cn/v1', true],
    ['https://api.xiaomimimo.com/v1', true],
    ['https://deepseek.com.example.org/v1', false],
    ['https://api.example.org/deepseek.com/v1', false],
  ])('to %s: %s', async (address, expected) => {
    const { baseURL, requests } = await strict(() => true, '')
    reachAt(address, baseURL)
    await using here = await stage([], { model: 'm', baseURL: address })
    await here.ask()
    const [said] = calls(requests[1]?.body ?? { model: '', messages: [] })
    expect(said && 'reasoning_content' in said).toBe(expected)
  })

  test('as an empty text, where there is none', async () => {
    const { baseURL, requests } = await serveModel((body) =>
      body.messages.at(-1)?.role === 'tool' ? saying('5') : calling('desk__add', { a: 2, b: 3 }),
    )
    await using here = await stage([], { model: 'm', baseURL, replayReasoning: true })
    await here.ask()
    expect(calls(requests[1]?.body ?? { model: '', messages: [] })).toMatchObject([{ reasoning_content: '' }])
  })
})

describe('a tool of which the schema is refused', () => {
  /** Asks an agent that has a tool `desk__odd`, at a server that refuses requests unless `isTaken`. */
  const askWith = async (isTaken: Rule, words: string | ((body: ChatBody) => string)) => {
    const refused: ChatBody[] = []
    const { baseURL, requests } = await serveModel((body): ModelReply => {
      if (isTaken(body)) return saying('Done.')
      refused.push(body)
      return failing(400, typeof words === 'string' ? words : words(body))
    })
    await using here = await stage([], { model: 'm', baseURL })
    here.desk.tool('odd', { input: odd }, () => '')
    const answers = [await here.ask(), await here.ask()]
    return { answers, refused, last: requests.at(-1)?.body, story: listStory(here.heard) }
  }
  const getOdd = ({ tools }: ChatBody) =>
    (tools as { function: { name: string; parameters: object } }[]).find(
      (each) => each.function.name === 'desk__odd',
    )?.function.parameters
  const placeOf = ({ tools }: ChatBody): number =>
    (tools as { function: { name: string } }[]).findIndex((each) => each.function.name === 'desk__odd')

  const odd = {
    '~standard': {
      version: 1 as const,
      validate: (value: unknown) => ({ value }),
      jsonSchema: {
        input: () => ({
          type: 'object',
          properties: { when: { anyOf: [{ type: 'string', format: 'uri' }, { type: 'null' }] } },
          required: ['when'],
        }),
      },
    },
  }

  test.each<[name: string, words: (body: ChatBody) => string]>([
    ['by its name', () => "Invalid schema for function 'desk__odd': format uri"],
    ['by its place', (body) => `tools.${placeOf(body)}.custom.input_schema: anyOf is not supported`],
    ['by its place in brackets', (body) => `Invalid 'tools[${placeOf(body)}].function.parameters'`],
    ["as Google's", (body) => `tools[0].function_declarations[${placeOf(body)}].parameters: only enum`],
    ['not at all', () => 'the schema is too complex'],
  ])('gets a plain one, if it is named %s', async (_, words) => {
    const { answers, refused, last } = await askWith(
      (body) => !JSON.stringify(getOdd(body)).includes('anyOf'),
      words,
    )
    expect(answers).toEqual(['Done.', 'Done.'])
    expect(refused).toHaveLength(1)
    expect(last && getOdd(last)).toMatchObject({
      type: 'object',
      properties: { when: { type: 'string' } },
      required: ['when'],
    })
  })

  test('is left out and named, if that does not help; the others stay', async () => {
    const { answers, refused, last, story } = await askWith(
      (body) => getOdd(body) === undefined,
      "Invalid schema for function 'desk__odd'",
    )
    expect(answers).toEqual(['Done.', 'Done.'])
    expect(refused).toHaveLength(2)
    expect(JSON.stringify(last?.tools)).toContain('desk__add')
    expect(story[1]).toMatch(
      /^reasoning\.thought: m at \S+ refuses these tools, and answers without them: desk\/odd\.$/,
    )
  })
})

test('an answer that came whole is read as a stream', async () => {
  const whole = (message: object, finish_reason: string) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'c', choices: [{ index: 0, message, finish_reason }] }),
  })
  const call = { id: 'c1', type: 'function', function: { name: 'desk__add', arguments: '{"a":2,"b":3}' } }
  const { baseURL } = await serveModel([
    whole({ role: 'assistant', content: null, tool_calls: [call, { ...call, id: 'c2' }] }, 'tool_calls'),
    whole({ role: 'assistant', content: 'It is 5.' }, 'stop'),
    { headers: { 'content-type': 'application/json' }, body: completion('stop', { content: 'Still 5.' }) },
  ])
  await using here = await stage([], { model: 'm', baseURL })
  expect(await here.ask()).toBe('It is 5.')
  expect(listStory(here.heard).filter((line) => line.startsWith('mcp.request'))).toHaveLength(2)
  expect(await here.ask()).toBe('Still 5.')
})
