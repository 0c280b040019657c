import { inspect } from 'node:util'
import type { AgentOptions } from '@meup/agent-sdk'
import { describe, expect, test } from 'vitest'
import { events, type ModelReply, serveModel } from '../../../../test/support/model-server.js'
import { stage } from './stage.js'

/** Lets a request fail. Returns the asker's error, with `*` in place of the model and its server. */
async function failAt(
  reply: ModelReply,
  address: (root: string) => string,
  options: Partial<AgentOptions> = {},
) {
  const server = await serveModel(() => reply)
  const root = server.baseURL.replace('/v1', '')
  const settings = { maxRetries: 0, ...options.settings }
  await using here = await stage([], { model: 'm', baseURL: address(root), ...options, settings })
  const text = await here.ask()
  return {
    text: text
      .replace('I could not answer: m at ', '')
      .replaceAll(root, '*')
      .replaceAll(root.replace('http:', 'https:'), 's*'),
    all: JSON.stringify(here.heard.all) + inspect(here.troubles, { depth: 9 }),
  }
}

const refusing = (status: number, body: unknown): ModelReply => ({
  status,
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const lost = refusing(404, '404 page not found')

describe('an address is advised for', () => {
  test.each<[path: string, reply: ModelReply, text: string]>([
    ['/v1/chat', lost, 'answered 404: 404 page not found. Try the baseURL */v1.'],
    ['/v1/models', lost, 'answered 404: 404 page not found. Try the baseURL */v1.'],
    ['/v1/v1', lost, 'answered 404: 404 page not found. Try the baseURL */v1.'],
    ['/api', lost, 'answered 404: 404 page not found. Try the baseURL */v1.'],
    ['/api/chat', refusing(405, ''), 'answered 405: Method Not Allowed. Try the baseURL */v1.'],
    ['/api/generate/', lost, 'answered 404: 404 page not found. Try the baseURL */v1.'],
    ['/ui', lost, 'answered 404: 404 page not found. Try the baseURL */ui/v1.'],
    [
      '/api',
      refusing(404, { detail: 'Model not found' }),
      'answered 404: Model not found. Is m the name of a model there?',
    ],
    [
      '/v1',
      { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Sign in</title>' },
      'answered with a web page: Sign in. Check its address, and whether it needs a login.',
    ],
    [
      '/v1',
      refusing(400, 'Client sent an HTTP request to an HTTPS server.\n'),
      'answered 400: Client sent an HTTP request to an HTTPS server. Try the baseURL s*/v1.',
    ],
    [
      '/v1',
      refusing(400, '<html><title>400 The plain HTTP request was sent to HTTPS port</title></html>'),
      'answered 400: 400 The plain HTTP request was sent to HTTPS port. Try the baseURL s*/v1.',
    ],
  ])('%s: %j', async (path, reply, text) => {
    expect((await failAt(reply, (root) => `${root}${path}`)).text).toBe(`*${path} ${text}`)
  })

  test('a host whose name begins with api', async () => {
    const fetch = async () => new Response('404 page not found', { status: 404 })
    const before = globalThis.fetch
    globalThis.fetch = fetch
    try {
      const { text } = await failAt(lost, () => 'https://api.example.org')
      expect(text).toMatch(/Try the baseURL https:\/\/api\.example\.org\/v1\.$/)
    } finally {
      globalThis.fetch = before
    }
  })

  test('a server without TLS, and one whose name nobody knows', async () => {
    expect((await failAt(lost, (root) => `${root.replace('http:', 'https:')}/v1`)).text).toBe(
      's*/v1 cannot be reached: wrong version number. Try the baseURL */v1.',
    )
    expect((await failAt(lost, () => 'http://no.such.host.invalid/v1')).text).toMatch(
      /cannot be reached: .*\. Check the name of its server, and the network\.$/,
    )
  })
})

describe('the own words of a server are read from', () => {
  const reason = 'no credit left'
  test.each<[form: string, body: unknown, text?: string]>([
    ["Baidu's", { error_code: 17, error_msg: reason }],
    ["MiniMax's", { base_resp: { status_code: 1004, status_msg: reason } }],
    ["Tencent's", { Response: { Error: { Code: 'X', Message: reason } } }],
    ["Apigee's", { fault: { faultstring: reason, detail: { errorcode: 'x' } } }],
    ["S3's", `<?xml version="1.0"?><Error><Code>X</Code><Message>${reason}</Message></Error>`],
    ["nginx's", `<html><body><center><h1>${reason}</h1></center></body></html>`],
    ['a page with entities', '<html><title>a &amp; b &#8211; c</title></html>', 'a & b – c'],
    ['other names: err', { err: reason }],
    ['other names: Error', { Error: reason }],
    ['other names: errorMessage', { errorMessage: reason }],
    ['an outer field', { status: 'error', data: { message: reason } }],
    ['a code alone', { error: { code: 'model_overloaded', message: '' } }, 'model_overloaded'],
    ['lines of JSON', `{"error":"${reason}"}\n{"done":true}\n`],
    ['an event with a name', `event: error\ndata: {"error":{"message":"${reason}"}}\n\n`],
    ['a text as JSON', JSON.stringify(reason)],
    [
      'JSON behind words',
      { error: { message: `upstream: {"error":{"message":"${reason}"}}` } },
      `upstream: ${reason}`,
    ],
  ])('%s', async (_, body, text = reason) => {
    expect((await failAt(refusing(400, body), (root) => root)).text).toBe(`*/ answered 400: ${text}`)
  })

  test.each<[object]>([
    [{ detail: reason }],
    [{ message: reason, code: 500 }],
    [{ error: { code: 'x', msg: reason } }],
  ])('an event of a stream: %j', async (event) => {
    const { text } = await failAt({ body: events(event) }, (root) => `${root}/v1`)
    expect(text).toBe(`*/v1 failed: ${reason}`)
  })

  test('but not from what a model says in a stream of another form', async () => {
    for (const event of [
      { message: { content: 'RAW', thinking: 'RAW' } },
      { response: 'RAW' },
      { choices: 'x', message: 'RAW' },
    ]) {
      const { text } = await failAt({ body: events(event) }, (root) => `${root}/v1`)
      expect(text).not.toContain('RAW')
    }
  })
})

test.each<[name: string, headers: Record<string, string>]>([
  ['quotation marks', { 'x-team': '“acme-gateway-7731”' }],
  ['a control character', { 'x-team': 'acme-gateway-7731\u0001' }],
  ['an odd name', { 'x team': 'acme-gateway-7731' }],
])('a header with %s is told as one', async (_, headers) => {
  const { text, all } = await failAt(lost, (root) => `${root}/v1`, { settings: { headers } })
  expect(text).toBe(
    '*/v1 could not be asked: a header contains an invalid character. Check the API key and the headers for line breaks, quotation marks and the like.',
  )
  expect(all).not.toContain('7731')
})
