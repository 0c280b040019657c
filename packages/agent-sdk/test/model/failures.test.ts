import { inspect } from 'node:util'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import type { AgentOptions } from '@meup/agent-sdk'
import { describe, expect, test } from 'vitest'
import { events, type ModelReply, saying, serveModel } from '../../../../test/support/model-server.js'
import { stage } from './stage.js'

/** Lets a request fail. Returns the asker's error, with `*` in place of the address, and everything that others can read. */
async function failWith(reply: ModelReply, options: Partial<AgentOptions> = {}, path = '/v1') {
  const server = await serveModel(() => reply)
  const baseURL = server.baseURL.replace('/v1', path)
  const settings = { maxRetries: 0, ...options.settings }
  await using here = await stage([], { model: 'm', baseURL, ...options, settings })
  const answer = await here.ask('What is the secret plan of the committee for the harbour?')
  return {
    text: answer.replace('I could not answer: ', '').replaceAll(server.baseURL.replace('/v1', ''), '*'),
    all: `${JSON.stringify(here.heard.all)} ${inspect(here.troubles, { depth: 9 })}`,
    messages: here.troubles.map((each) => (each as Error).message).join('\n'),
  }
}

const refusing = (status: number, body: unknown, headers = {}): ModelReply => ({
  status,
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const page = (title: string): ModelReply => ({
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: `<!doctype html><html><head><title>${title}</title></head><body>Hi</body></html>`,
})
const json = (body: unknown): ModelReply => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

describe('the own words of a server are read from', () => {
  const reason = 'no credit left'
  test.each<[form: string, body: unknown, text?: string]>([
    ["OpenAI's", { error: { message: reason, type: 'x', code: null } }],
    ["Databricks'", { error_code: 'BAD_REQUEST', message: reason }],
    ["FastAPI's, a text", { detail: reason }],
    [
      "FastAPI's, a list",
      { detail: [{ type: 'x', loc: ['body', 'messages', 0], msg: reason, input: 'secret' }] },
      `body.messages.0: ${reason}`,
    ],
    ['an error that is a text', { error: reason }],
    ["Google's", [{ error: { code: 400, message: reason, status: 'INVALID_ARGUMENT' } }]],
    ["vLLM's", { object: 'error', message: reason, type: 'x', code: 400 }],
    ["Nest's", { statusCode: 400, message: [reason, 'really'], error: 'Bad Request' }, `${reason}; really`],
    ["OAuth's", { error: 'invalid_request', error_description: reason }],
    ["AWS's", { Message: reason }],
    [
      "OpenRouter's",
      {
        error: { message: 'Provider returned error', metadata: { raw: `{"error":{"message":"${reason}"}}` } },
      },
      `Provider returned error: ${reason}`,
    ],
    ['JSON within JSON', { error: { message: `{"error": {"message": "${reason}"}}` } }],
    ['a plain text', reason],
    ['a text of several lines', `${reason}\n`],
    ['an event', `data: {"error":{"message":"${reason}"}}\n\n`],
    ['a page', `<html><head><title>${reason}</title></head></html>`],
  ])('%s', async (_, body, text = reason) => {
    expect((await failWith(refusing(400, body))).text).toBe(`m at */v1 answered 400: ${text}`)
  })

  test('none: the status says it', async () => {
    expect((await failWith(refusing(400, ''))).text).toBe('m at */v1 answered 400: Bad Request')
    expect((await failWith(refusing(402, '{}'))).text).toBe(
      'm at */v1 answered 402: Payment Required. Its account needs credit.',
    )
  })

  test('an error of a stream', async () => {
    for (const error of [{ message: reason }, reason, { error: { message: reason } }, [{ msg: reason }]]) {
      const { text } = await failWith({ body: events({ error }) })
      expect(text).toBe(`m at */v1 failed: ${reason}`)
    }
  })

  test('a long text, of which the beginning is told', async () => {
    const { text } = await failWith(refusing(400, 'no! '.repeat(10_000)))
    expect(text.length).toBeLessThan(400)
  })
})

describe('what to do is told', () => {
  const hint = 'Try the baseURL */v1.'
  test.for<[name: string, reply: ModelReply, path: string, text: string]>([
    ['a page', page('Welcome'), '', `m at */ answered with a web page: Welcome. ${hint}`],
    ['a page without a name', page(''), '/', `m at */ answered with a web page. ${hint}`],
    [
      "Ollama's 404",
      refusing(404, '404 page not found'),
      '',
      `m at */ answered 404: 404 page not found. ${hint}`,
    ],
    [
      "LM Studio's error with a status of success",
      json({ error: 'Unexpected endpoint or method. (POST /chat/completions)' }),
      '',
      `m at */ gave no answer: Unexpected endpoint or method. (POST /chat/completions). ${hint}`,
    ],
    ['a stream of nothing', { body: '' }, '', `m at */ ended its answer before it began. ${hint}`],
    ['a bare end', { body: events('[DONE]') }, '', `m at */ ended its answer before it began. ${hint}`],
    [
      'an address that goes on too far',
      refusing(404, { detail: 'Not Found' }),
      '/v1/chat/completions',
      'm at */v1/chat/completions answered 404: Not Found. Try the baseURL */v1.',
    ],
    [
      'a model that is not there',
      refusing(404, { error: { message: 'model "m" not found, try pulling it first' } }),
      '/v1',
      'm at */v1 answered 404: model "m" not found, try pulling it first. Is m the name of a model there?',
    ],
    [
      'a wrong key',
      refusing(401, { error: { message: 'Incorrect API key provided: sk-1234***89' } }),
      '/v1',
      'm at */v1 answered 401. It needs a valid API key.',
    ],
    [
      'a user who is not known',
      refusing(401, { error: { message: 'User not found.' } }),
      '/v1',
      'm at */v1 answered 401: User not found. It needs a valid API key.',
    ],
    [
      'a country that is not served',
      refusing(403, { error: { message: 'Country not supported' } }),
      '/v1',
      'm at */v1 answered 403: Country not supported. Its API key may not use m.',
    ],
    [
      'a login, in circles',
      { status: 302, headers: { location: '/v1/chat/completions' }, body: '' },
      '/v1',
      'm at */v1 cannot be reached: redirect count exceeded. Check its address, and whether it needs a login.',
    ],
  ])('%s', async ([, reply, path, text]) => {
    expect((await failWith(reply, {}, path)).text).toBe(text)
  })

  const later = (ms: number) => new Date(Date.now() + ms)
  test.each<[after: string | (() => string), words: RegExp]>([
    ['20', /in 20 s\.$/],
    ['1.5', /in 2 s\.$/],
    ['90s', /in 90 s\.$/],
    ['1m30s', /in 90 s\.$/],
    ['PT1M30S', /in 90 s\.$/],
    ['7m12s', /in 8 minutes\.$/],
    ['2 hours', /in 2 hours\.$/],
    ['259200', /in 3 days\.$/],
    [() => later(20_000).toUTCString(), /in (?:1\d|2[01]) s\.$/],
    [() => later(600_000).toISOString(), /in (?:9|10) minutes\.$/],
    [() => String(Math.ceil(later(30_000).getTime() / 1000)), /in (?:2\d|3[01]) s\.$/],
    ['soon', /later\.$/],
    ['-1', /later\.$/],
    ['', /later\.$/],
  ])('when to ask again: %s', async (given, words) => {
    const after = typeof given === 'string' ? given : given()
    const { text } = await failWith(refusing(429, { error: 'slow down' }, { 'retry-after': after }))
    expect(text).toMatch(/^m at \*\/v1 answered 429: slow down\. Ask again /)
    expect(text).toMatch(words)
  })

  test.each([
    [{ error: { message: 'Rate limit reached. Please try again in 7m12s. Visit us.' } }, /in 8 minutes\.$/],
    [{ error: { message: 'Please try again in 20s.' } }, /in 20 s\.$/],
    [{ error: { message: 'slow', details: [{ '@type': 'RetryInfo', retryDelay: '34s' }] } }, /in 34 s\.$/],
    [{ error: { message: 'Try again later.' } }, /later\.$/],
  ])('when to ask again, in the words of the server: %j', async (body, words) => {
    expect((await failWith(refusing(429, body))).text).toMatch(words)
  })

  test('one that has to be waited for too long is not asked again', async () => {
    const { baseURL, requests } = await serveModel([
      refusing(429, { error: 'slow' }, { 'retry-after': '61' }),
      saying('never'),
    ])
    await using here = await stage([], { model: 'm', baseURL })
    expect(await here.ask()).toMatch(/Ask again in 61 s\.$/)
    expect(requests).toHaveLength(1)
  })

  test('an answer that never began is asked for again', async () => {
    const { baseURL, requests } = await serveModel([{ body: events('[DONE]') }, saying('It is 5.')])
    await using here = await stage([], { model: 'm', baseURL })
    expect(await here.ask()).toBe('It is 5.')
    expect(requests).toHaveLength(2)
  })
})

describe('nothing of ours is quoted', () => {
  const key = 'acme-gateway-7731'
  test.each<[name: string, options: Partial<AgentOptions>, reply?: ModelReply]>([
    ['a key that the server repeats', { apiKey: key }, refusing(400, { error: `what is ${key}?` })],
    [
      'a header of ours that it repeats',
      { settings: { headers: { 'x-team': `${key} blue` } } },
      refusing(500, { detail: `x-team: ${key} blue` }),
    ],
    [
      'a header with a line break',
      { settings: { headers: { 'x-team': `${key}\nblue` } } },
      refusing(200, ''),
    ],
    ['a header with a NUL', { settings: { headers: { 'x-team': `${key}\0` } } }, refusing(200, '')],
    ['a header beyond Latin-1', { settings: { headers: { 'x-team': `${key}…` } } }, refusing(200, '')],
  ])('%s', async (_, options, reply = refusing(400, '')) => {
    const { text, all } = await failWith(reply, options)
    expect(text).toMatch(/^m at \*\/v1 /)
    expect(all).not.toContain('acme-gateway')
  })

  test.each(['\n', '\r\n', '\0', '…'])(
    'a key with %j in it, of a provider that reads it by itself',
    async (odd) => {
      const apiKey = `${key}${odd}team-blue`
      for (const model of [createOpenAI({ apiKey }).chat('gpt-5'), createAnthropic({ apiKey })('claude-5')]) {
        await using here = await stage([], { model, settings: { maxRetries: 0 } })
        const answer = await here.ask()
        expect(answer).toMatch(/^I could not answer: (?:gpt-5 of openai|claude-5 of anthropic) /)
        expect(JSON.stringify(here.heard.all) + inspect(here.troubles, { depth: 9 })).not.toMatch(
          /acme-gateway|team-blue/,
        )
      }
    },
  )

  test.each([
    'sk-proj-Ab12Cd34Ef56Gh78Ij90Kl',
    'gsk_a1b2c3d4e5f6g7h8i9j0k1l2m3n4',
    'AIzaSyA1234567890abcdefghijklmnopq',
    'sk-12****89',
  ])('what looks like a key: %s', async (secret) => {
    const { text } = await failWith(refusing(400, { error: `the account of ${secret} is closed` }))
    expect(text).toBe('m at */v1 answered 400: the account of [redacted:key] is closed')
  })

  test('names of models and tools stay', async () => {
    const words = 'claude-sonnet-4-5-20250929 knows no files__read_text_file; see https://example.org/a/b'
    expect((await failWith(refusing(400, { error: words }))).text).toBe(`m at */v1 answered 400: ${words}`)
  })

  test.each<[name: string, body: (sent: string) => unknown]>([
    ['whole', (sent) => ({ error: `cannot read ${sent}, sorry` })],
    ['in part', (sent) => ({ error: `cannot read "${sent.slice(4, 50)}"` })],
    ['in its JSON', (sent) => ({ error: { message: `bad: ${JSON.stringify({ content: sent })}` } })],
  ])('the question, %s', async (_, body) => {
    const sent = 'ana: What is the secret plan of the committee for the harbour?'
    const { text, messages } = await failWith(refusing(400, body(sent)))
    expect(text).toMatch(/^m at \*\/v1 answered 400: .*\[…\]/)
    expect(text + messages).not.toContain('plan of the committee')
  })
})
