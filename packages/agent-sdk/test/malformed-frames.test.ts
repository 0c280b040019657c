import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect } from '@meup/agent-sdk'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { eventually } from './support/eventually.js'
import { accepted, fromGateway, makeWelcome } from './support/scripted-line.js'

/** Waits between reconnect attempts are random, so this makes them short. */
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0.01))
afterEach(() => void vi.restoreAllMocks())

type Frame = string | Buffer
const json = (value: unknown): string => JSON.stringify(value)
const welcome = (change: object = {}): string =>
  json(fromGateway('system.welcome', { ...makeWelcome('bot'), ...change }))
const question = (seq: number, change: object = {}): object => ({
  ...accepted('ana', { id: `q-${seq}`, kind: 'chat', to: ['bot'], payload: { message: 'hello' } }, seq),
  ...change,
})

/** A gateway that sends one of these frames on each connection, in order. */
async function fakeGateway(...greetings: readonly Frame[]) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  const sockets: WebSocket[] = []
  const chats: string[] = []
  server.on('connection', (socket) => {
    const greeting = greetings[Math.min(sockets.length, greetings.length - 1)] ?? ''
    sockets.push(socket)
    socket.on('message', (data) => {
      const { kind, payload } = JSON.parse(data.toString())
      if (kind === 'chat') chats.push(payload.message)
    })
    socket.send(greeting, { binary: typeof greeting !== 'string' })
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const send = (frame: Frame): void => sockets.at(-1)?.send(frame, { binary: typeof frame !== 'string' })
  return { url, send, sockets, chats }
}

/** An agent that answers each question with the id of the question, and the errors that it reports. */
async function answering(url: string) {
  const seat = await connect({ url, space: 'test', token: 'any' })
  onTestFinished(() => seat.close())
  const errors: unknown[] = []
  seat.on('requestError', (error, request) => errors.push(request ?? error))
  void seat.answer(async (turn) => void (await turn.reply(turn.trigger.id)))
  return { seat, errors }
}

const frames: readonly (readonly [string, Frame])[] = [
  ['no JSON', '{'],
  ['nothing', ''],
  ['null', 'null'],
  ['a number', '7'],
  ['a text', '"hello"'],
  ['a list', '[]'],
  ['binary', Buffer.from([0, 255, 1])],
  ['an empty object', '{}'],
  ['payload: null', json(question(2, { payload: null }))],
  ['a payload that is a text', json(question(2, { payload: 'hello' }))],
  ['no payload', json(question(2, { payload: undefined }))],
  ['a chat without a message', json(question(2, { payload: {} }))],
  ['a message that is no text', json(question(2, { payload: { message: { a: 1 } } }))],
  ['no kind', json(question(2, { kind: undefined }))],
  ['a kind that is a number', json(question(2, { kind: 5 }))],
  ['no id', json(question(2, { id: undefined }))],
  ['from: null', json(question(2, { from: null }))],
  ['a seq that is a text', json(question(2, { seq: '2' }))],
  ['a seq below 1', json(question(2, { seq: -2 }))],
  ['to: a text', json(question(2, { to: 'bot' }))],
  ['correlationId: an object', json(question(2, { correlationId: {} }))],
  ['an error without a code', json(fromGateway('system.error', {}))],
  ['presence of nobody', json(fromGateway('system.presence', { event: 'join' }, { seq: 2 }))],
  ['presence: null', json(fromGateway('system.presence', { event: 'join', participant: null }, { seq: 2 }))],
  ['another welcome without you', welcome({ you: undefined })],
]

test.for(frames)('an agent goes on after a frame that is malformed: %s', async ([, frame]) => {
  const gateway = await fakeGateway(welcome())
  const { seat, errors } = await answering(gateway.url)
  gateway.send(json(question(1)))
  gateway.send(frame)
  gateway.send(json(question(3)))
  await eventually(() => expect(gateway.chats).toEqual(['q-1', 'q-3']))
  expect(errors).toMatchObject([{ name: 'ConnectionError', code: 'malformed' }])
  expect(gateway.sockets).toHaveLength(1)
  expect(seat.ended).toBeUndefined()
})

const greetings: readonly (readonly [string, Frame])[] = [
  ['null', 'null'],
  ['binary', Buffer.from([0, 255, 1])],
  ['without you', welcome({ you: undefined })],
  ['with participants: null', welcome({ participants: null })],
  ['with a participant that is null', welcome({ participants: [null] })],
  ['without a space', welcome({ space: undefined })],
  ['without resume', welcome({ resume: undefined })],
  ['with contexts: {}', welcome({ contexts: {} })],
  ['without a subscription', welcome({ subscription: undefined })],
  ['with limits: null', welcome({ limits: null })],
  ['a chat', json(question(1))],
]

describe.each(greetings)('a first frame that is no welcome: %s', (_, greeting) => {
  test('refuses whoever enters', async () => {
    vi.spyOn(console, 'error').mockReturnValue()
    const gateway = await fakeGateway(greeting)
    const entering = connect({ url: gateway.url, space: 'test', token: 'any' })
    await expect(entering).rejects.toMatchObject({ name: 'ConnectionError', code: 'unreachable' })
  })

  test('makes an agent that was cut off try again', async () => {
    const gateway = await fakeGateway(welcome(), greeting, welcome())
    await answering(gateway.url)
    gateway.sockets[0]?.terminate()
    await eventually(() => expect(gateway.sockets).toHaveLength(3))
    gateway.send(json(question(1)))
    await eventually(() => expect(gateway.chats).toEqual(['q-1']))
  })
})

/** Yields variants of a value: each part of it, at any depth, is replaced by values of other types. */
function* mutations(value: unknown): Generator<unknown> {
  yield* [null, -1, 'x', {}, [], [null], true]
  if (typeof value !== 'object' || value === null) return
  for (const [key, part] of Object.entries(value)) {
    for (const mutated of mutations(part)) {
      yield Array.isArray(value) ? value.with(Number(key), mutated) : { ...value, [key]: mutated }
    }
  }
}

const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x', arguments: { a: 1 } } }
const sound: readonly object[] = [
  fromGateway('system.welcome', {
    ...makeWelcome('bot'),
    contexts: [{ context: 'c', owner: 'ana', state: 'open', reasoningVisible: true, startedAt: 'now' }],
  }),
  fromGateway('system.error', { code: 'participant_paused', message: 'wait', retryAfterMs: 1, details: {} }),
  fromGateway('system.presence', { event: 'join', participant: { id: 'ana', capabilities: ['chat'] } }),
  ...[
    { kind: 'chat', payload: { message: 'hello' } },
    { kind: 'chat.cancel', correlationId: ['q-1'], payload: { reason: 'no' } },
    { kind: 'mcp.request', payload: call },
    { kind: 'mcp.request', correlationId: 'a', payload: { method: 'notifications/progress', params: {} } },
    { kind: 'mcp.request', payload: { method: 'notifications/cancelled', params: { requestId: 1 } } },
    { kind: 'mcp.response', correlationId: 'a', payload: { result: {}, error: { code: 1, message: '' } } },
    {
      kind: 'mcp.proposal',
      payload: { method: 'tools/call', params: {}, expiresAt: '2027-01-01T00:00:00Z' },
    },
    { kind: 'mcp.reject', correlationId: 'a', payload: { reason: 'no' } },
    { kind: 'reasoning.start', payload: { message: 'so' } },
    { kind: 'reasoning.cancel', context: 'c', payload: { reason: 'no' } },
    { kind: 'observe.visibility', payload: { context: 'c', reasoningVisible: false } },
    { kind: 'participant.pause', payload: { reason: 'rest', timeoutSeconds: 0.001 } },
    { kind: 'participant.resume', payload: {} },
    { kind: 'participant.request-status', payload: { fields: ['status'] } },
    { kind: 'space.invite-ack', correlationId: 'a', payload: { token: 't' } },
  ].map((each) => accepted('ana', { id: 'i', to: ['bot'], ...each }, 1)),
]

test('an agent outlives every mutation of what a gateway sends', async () => {
  const gateway = await fakeGateway(welcome())
  const { seat } = await answering(gateway.url)
  seat.tool('x', {}, () => 'done')
  seat.proposals.on('proposal', () => {})
  for (const frame of sound) for (const mutated of mutations(frame)) gateway.send(json(mutated))
  gateway.send(welcome({ resume: { status: 'lost', from: 1, to: 0 } }))
  gateway.send(json(accepted('ana', { kind: 'participant.resume', to: ['bot'], id: 'r' }, 1)))
  gateway.send(json(question(2)))
  await eventually(() => expect(gateway.chats).toContain('q-2'))
  expect(seat.ended).toBeUndefined()
  expect(gateway.sockets).toHaveLength(1)
})
