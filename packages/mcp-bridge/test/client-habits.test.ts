import { request } from 'node:http'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { HttpClient } from '@meup/agent-sdk/http'
import type { TestSpace } from '@meup/agent-sdk/testing'
import { serveSpaceOverStdio } from '@meup/mcp-bridge/serve'
import { describe, expect, onTestFinished, test } from 'vitest'
import { clientHabits } from './client-habits.js'
import { openLibrary, serveSpace, token } from './support/served.js'

type Message = Record<string, unknown> & { readonly id?: unknown; readonly error?: object }

/** An MCP client that sends arbitrary text. */
interface Raw {
  readonly space: TestSpace
  /** Sends a text unchanged. Resolves with its responses, in any order. */
  send(body: string, answers?: number): Promise<Message[]>
  /** Sends a request, and resolves with the response that has its id. */
  ask(message: object): Promise<Message>
}

const hello = {
  jsonrpc: '2.0',
  id: 'hello',
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: { elicitation: {}, roots: null },
    clientInfo: { name: 'raw', title: null, version: '1' },
  },
}
const initialized = '{"jsonrpc":"2.0","method":"notifications/initialized","params":null}'

async function openSpace() {
  const served = await serveSpace({ more: { echo: ['*'] } })
  const echo = await served.space.join('echo')
  echo.tool('say', {}, (args) => JSON.stringify(args))
  return served
}

async function openStdio(): Promise<Raw> {
  const { space } = await openSpace()
  const pipes = { stdin: new PassThrough(), stdout: new PassThrough() }
  const seat = await space.join('desktop')
  const http = new HttpClient({ url: 'http://127.0.0.1:1', space: 'test' })
  const serving = serveSpaceOverStdio({ space: seat, http }, pipes)
  onTestFinished(() => serving.close())
  const lines: Message[] = []
  const waiting = new Set<() => void>()
  createInterface({ input: pipes.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Message
    if (String(message.method).startsWith('notifications/')) return
    lines.push(message)
    for (const look of [...waiting]) look()
  })
  const take = (count: number): Promise<Message[]> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (lines.length < count) return
        waiting.delete(look)
        resolve(lines.splice(0, count))
      }
      waiting.add(look)
      look()
    })
  const raw: Raw = {
    space,
    async send(body, answers = 1) {
      pipes.stdin.write(`${body}\n`)
      return take(answers)
    },
    ask: async (message) => (await raw.send(JSON.stringify(message)))[0] ?? {},
  }
  await raw.ask(hello)
  pipes.stdin.write(`${initialized}\n`)
  return raw
}

interface HttpRaw extends Raw {
  post(body: string, headers?: Record<string, string>): Promise<{ status: number; messages: Message[] }>
}

const usual = {
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

async function openHttp(): Promise<HttpRaw> {
  const { space, url } = await openSpace()
  let session: Record<string, string> = {}
  const post = (body: string, headers: Record<string, string> = usual) =>
    new Promise<{ status: number; messages: Message[]; id: string }>((resolve, reject) => {
      const asking = request(url, { method: 'POST', headers: { ...headers, ...session } }, (response) => {
        const id = String(response.headers['mcp-session-id'])
        text(response).then((body) => {
          const data = /^data: /m.test(body)
            ? [...body.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json) as Message)
            : [body === '' ? [] : (JSON.parse(body) as Message | Message[])].flat()
          const messages = data.filter(({ method }) => !String(method).startsWith('notifications/'))
          resolve({ status: response.statusCode ?? 0, messages, id })
        }, reject)
      })
      asking.on('error', reject)
      asking.end(body)
    })
  const { id } = await post(JSON.stringify(hello))
  session = { 'mcp-session-id': id }
  await post(initialized)
  const send = async (body: string): Promise<Message[]> => (await post(body)).messages
  return { space, post, send, ask: async (message) => (await send(JSON.stringify(message)))[0] ?? {} }
}

const ways: Readonly<Record<string, () => Promise<Raw>>> = { stdio: openStdio, http: openHttp }

/** An error response with this id and code, and a message that matches `sentence`. */
const failed = (id: unknown, code: number, sentence: RegExp) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: expect.stringMatching(sentence) },
})
const said = (value: object) => ({ result: { content: [{ type: 'text', text: JSON.stringify(value) }] } })
const say = (id: unknown, args: unknown, more: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'echo__say', arguments: args, ...more },
})

const tests: Record<keyof typeof clientHabits, (raw: Raw) => Promise<void>> = {
  async nulls({ ask }) {
    for (const method of ['ping', 'tools/list', 'prompts/list', 'resources/list'])
      for (const params of [null, { _meta: null }, { cursor: null }, { _meta: { progressToken: null } }])
        expect(await ask({ jsonrpc: '2.0', id: 1, method, params })).toMatchObject({ id: 1, result: {} })
    expect(await ask(say(2, null, { _meta: null, task: null }))).toMatchObject({ id: 2, ...said({}) })
    const args = { a: null, b: [null], c: { d: null } }
    expect(await ask(say(3, args))).toMatchObject({ id: 3, ...said(args) })
  },
  async version({ ask }) {
    const { jsonrpc: _, ...rest } = say(1, { a: 1 })
    expect(await ask(rest)).toMatchObject({ jsonrpc: '2.0', ...said({ a: 1 }) })
    expect(await ask({ ...rest, jsonrpc: null, sessionId: 7 })).toMatchObject({ id: 1, ...said({ a: 1 }) })
    expect(await ask({ ...rest, jsonrpc: '1.0' })).toMatchObject({ id: 1, ...said({ a: 1 }) })
  },
  async ids({ ask }) {
    for (const id of ['a', '', '7', 0, -1, 7])
      expect(await ask(say(id, { id }))).toMatchObject({ id, ...said({ id }) })
  },
  async oddIds({ ask }) {
    expect(await ask(say(1.5, {}))).toEqual(failed(1.5, -32600, /\/id of tools\/call is 1\.5/))
    expect(await ask(say(true, {}))).toEqual(failed(null, -32600, /\/id is true/))
    expect(await ask(say({}, {}))).toEqual(failed(null, -32600, /\/id is an object/))
  },
  async notJson({ send, ask }) {
    expect(await send('hello')).toEqual([failed(null, -32700, /it is not JSON/)])
    expect(await send('{"jsonrpc":"2.0","id":1,')).toEqual([failed(null, -32700, /broken JSON/)])
    expect(await ask(say(1, {}))).toMatchObject(said({}))
  },
  async noMethod({ ask, send }) {
    expect(await ask({ jsonrpc: '2.0', id: 4 })).toEqual(failed(4, -32600, /no method, result or error/))
    expect(await ask({ jsonrpc: '2.0', id: 4, method: 5 })).toEqual(failed(4, -32600, /\/method is 5/))
    expect(await send('7')).toEqual([failed(null, -32600, /it is not an object but a number/)])
    expect(await send('[]')).toEqual([failed(null, -32600, /it is not an object but an array/)])
  },
  async parameters({ ask }) {
    const wrong: readonly (readonly [string, unknown, RegExp])[] = [
      ['tools/call', { name: 'echo__say', arguments: 'x' }, /\/params\/arguments of tools\/call is "x"/],
      ['tools/call', {}, /\/params\/name of tools\/call is missing, expected string/],
      ['tools/call', [], /\/params is an array/],
      ['tools/call', undefined, /\/params of tools\/call is missing/],
      ['tools/list', { cursor: 5 }, /\/params\/cursor of tools\/list is 5, expected string/],
      ['ping', { _meta: 'x' }, /\/params\/_meta of ping is "x"/],
      ['resources/read', { uri: 7 }, /\/params\/uri of resources\/read is 7/],
      ['prompts/get', { name: 'x', arguments: { a: 1 } }, /\/params\/arguments\/a of prompts\/get is 1/],
      ['logging/setLevel', { level: 'loud' }, /\/params\/level of logging\/setLevel is "loud"/],
    ]
    for (const [method, params, sentence] of wrong)
      expect(await ask({ jsonrpc: '2.0', id: 'p', method, params })).toEqual(failed('p', -32602, sentence))
  },
  async batches({ send }) {
    const batch = [say(1, { n: 1 }), { jsonrpc: '2.0', id: 2, method: 5 }, say(3, { n: 3 })]
    const answers = await send(JSON.stringify(batch), 3)
    expect(answers).toHaveLength(3)
    expect(answers).toContainEqual(expect.objectContaining({ id: 1, ...said({ n: 1 }) }))
    expect(answers).toContainEqual(failed(2, -32600, /\/method is 5/))
    expect(answers).toContainEqual(expect.objectContaining({ id: 3, ...said({ n: 3 }) }))
  },
  async lines({ send }) {
    const body = JSON.stringify(say(1, {}))
    for (const each of [`\uFEFF${body}`, `${body}\r`, `\n\r\n${body}\n\n`])
      expect(await send(each)).toMatchObject([{ id: 1, ...said({}) }])
  },
  async long({ ask, send }) {
    const long = (chars: number) => JSON.stringify(say(1, { pad: 'x'.repeat(chars) }))
    // The bridge accepts a message of this size, but the gateway refuses the envelope that contains it.
    expect(await send(long(9_900_000))).toMatchObject([{ id: 1, result: { isError: true } }])
    const [refused] = await send(long(11_000_000))
    expect(refused).toMatchObject({
      error: { code: -32600, message: expect.stringMatching(/the limit of a message/) },
    })
    expect(await ask(say(2, {}))).toMatchObject(said({}))
  },
  async answers({ space, ask, send }) {
    await openLibrary(space)
    const list = { jsonrpc: '2.0', id: 'list', method: 'tools/list' }
    await expect.poll(async () => JSON.stringify(await ask(list))).toContain('library__lend_book')
    const params = { name: 'library__lend_book', arguments: { title: 'Emma' } }
    for (const answer of [
      '"result":null',
      '"result":{"action":7}',
      '"result":{},"error":null',
      '"jsonrpc":"2.0"',
    ]) {
      const asked = await ask({ jsonrpc: '2.0', id: 'book', method: 'tools/call', params })
      expect(asked).toMatchObject({ method: 'elicitation/create' })
      const isNone = answer === '"jsonrpc":"2.0"'
      const answers = await send(
        `{"jsonrpc":"2.0","id":${JSON.stringify(asked.id)},${answer}}`,
        isNone ? 2 : 1,
      )
      if (isNone) expect(answers.shift()).toEqual(failed(asked.id, -32600, /no method, result or error/))
      const notLent = expect.stringMatching(/^not lent: (cancel|decline)$/)
      expect(answers).toMatchObject([{ id: 'book', result: { content: [{ text: notLent }] } }])
    }
  },
  async accept({ ask }) {
    expect(await ask(say(1, {}))).toMatchObject(said({}))
  },
}

/** Tests for HTTP only, in which each request has its own response. */
const httpTests: Partial<Record<keyof typeof clientHabits, (raw: HttpRaw) => Promise<void>>> = {
  async notJson({ post }) {
    for (const body of ['hello', '', '{']) expect(await post(body)).toMatchObject({ status: 400 })
  },
  async parameters({ post }) {
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: {} } }
    const { status, messages } = await post(JSON.stringify(cancelled))
    expect(status).toBe(400)
    expect(messages).toEqual([failed(null, -32602, /\/params\/requestId of notifications\/cancelled/)])
  },
  async long({ post }) {
    const { status, messages } = await post(`"${'x'.repeat(11_000_000)}"`)
    expect(status).toBe(413)
    expect(messages).toEqual([failed(null, -32600, /more than 10485760 bytes/)])
  },
  answers: async () => {}, // Elicitations are only tested over stdio.
  async accept({ post }) {
    const { accept: _, ...silent } = usual
    const body = JSON.stringify(say(1, {}))
    for (const accept of [undefined, '*/*', 'text/html, */*;q=0.1', 'application/*, text/*']) {
      const headers = { ...silent, ...(accept !== undefined && { accept }) }
      expect(await post(body, headers)).toMatchObject({ status: 200, messages: [said({})] })
    }
    expect(await post(body, { ...silent, accept: 'text/html' })).toMatchObject({ status: 406 })
  },
}

describe.each(Object.entries(ways))('what clients send: %s', (way, open) => {
  test.for(Object.keys(clientHabits) as (keyof typeof clientHabits)[])('%s', async (habit) => {
    const raw = await open()
    const own = way === 'http' ? httpTests[habit] : undefined
    await own?.(raw as HttpRaw)
    if (!(way === 'http' && (habit === 'long' || habit === 'answers'))) await tests[habit](raw)
  })
})
