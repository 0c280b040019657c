import { memoryStore } from '@meup/gateway'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { faultyDisk } from '../../gateway/test/faulty-disk.js'
import { asking, bearer } from '../../gateway/test/http-client.js'
import { RawSocket } from '../../gateway/test/raw-socket.js'
import { answer, beginTurn, Page, refusal, stage } from './stage.js'

const question = { id: 'q', role: 'user', content: 'please do' }
const fit = { threadId: 't', runId: 'r', messages: [question] }
const content = (content: unknown) => ({
  ...fit,
  messages: [
    { id: 'a', role: 'user' },
    { ...question, content },
  ],
})
const resume = (...entries: unknown[]) => ({ ...fit, resume: entries })
const cancelled = { interruptId: 'p', status: 'cancelled' }
const resolved = { interruptId: 'p', status: 'resolved' }
const props = (forwardedProps: unknown) => ({ ...fit, forwardedProps })
const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as unknown

/** Number of open streams and sockets of the gateway. */
async function countConnections(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^meup_connections\{space="test"\} (\S+)/m.exec(text)?.[1])
}

const chats = async (url: string) =>
  (await asking(url, 'ana').history('kind=chat,chat.cancel&from=ana')).envelopes

describe('a bad field is refused with its path, and nothing is asked', () => {
  test.for<[path: string, body: unknown]>([
    ['/threadId', { ...fit, threadId: null }],
    ['/threadId', { ...fit, threadId: 'x'.repeat(1001) }],
    ['/threadId', { runId: 'r', messages: [question] }],
    ['/runId', { ...fit, runId: null }],
    ['/runId', { ...fit, runId: {} }],
    ['/messages', { ...fit, messages: null }],
    ['/messages', { ...fit, messages: 'x' }],
    ['/messages', { ...fit, messages: [null] }],
    ['/messages', { ...fit, messages: [], resume: [cancelled] }],
    ['/messages', { ...fit, messages: [null, 1, 'x', [], { role: null }] }],
    ['/messages/1/id', { ...fit, messages: [null, { ...question, id: null }] }],
    ['/messages/0/id', { ...fit, messages: [{ ...question, id: 7 }, { role: 'tool' }] }],
    ['/messages/1/content', content(null)],
    ['/messages/1/content', content(undefined)],
    ['/messages/1/content', content({ type: 'text', text: 'x' })],
    ['/messages/1/content', content([])],
    ['/messages/1/content', content(' ')],
    ['/messages/1/content/0', content([null])],
    [
      '/messages/1/content/1',
      content([
        { type: 'text', text: 'x' },
        { type: 'text', text: null },
      ]),
    ],
    [
      '/messages/1/content/1',
      content([
        { type: 'text', text: 'x' },
        { type: 'image', source: {} },
      ]),
    ],
    ['/resume', { ...fit, resume: 'p' }],
    ['/resume/0/interruptId', resume(null)],
    ['/resume/0/interruptId', resume([])],
    ['/resume/1/interruptId', resume(cancelled, cancelled)],
    ['/resume/1/interruptId', resume(cancelled, { status: 'cancelled', interruptId: null })],
    ['/resume/0/status', resume({ interruptId: 'p', status: null })],
    ['/resume/0/payload', resume(resolved)],
    ['/resume/0/payload', resume({ ...resolved, payload: [true] })],
    ['/resume/0/payload', resume({ ...resolved, payload: { approved: null } })],
    ['/resume/0/payload/reason', resume({ ...resolved, payload: { approved: false, reason: {} } })],
    ['/forwardedProps', props('ben')],
    ['/forwardedProps/agent', props({ agent: ['ben'] })],
    ['/forwardedProps/agent', props({ agent: 'ana' })],
    ['/forwardedProps/timeoutSeconds', props({ timeoutSeconds: '3' })],
    ['/forwardedProps/timeoutSeconds', props({ timeoutSeconds: 0 })],
    ['/forwardedProps/timeoutSeconds', props({ timeoutSeconds: 3601 })],
    ['/forwardedProps/cancelOnDisconnect', props({ cancelOnDisconnect: 'yes' })],
  ])('%s of %j', async ([path, body]) => {
    const { url, runs } = await stage()
    expect(await refusal(runs, 'ana', body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', path },
    })
    expect(await chats(url)).toEqual([])
  })

  test.for<[what: string, body: string | Uint8Array]>([
    ['null', 'null'],
    ['empty', ''],
    ['an array', '[]'],
    ['a number', '7'],
    ['no JSON', '{"threadId":'],
    ['no UTF-8', new Uint8Array([0x7b, 0xff, 0x7d])],
    ['an array that nests on and on', `{"messages":${'['.repeat(1_000_000)}`],
  ])('a body that is %s is invalid_json', async ([_, body]) => {
    const { runs } = await stage()
    const response = await fetch(runs, { method: 'POST', headers: bearer('ana'), body })
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'invalid_json' }])
  })
})

describe('a request goes on', () => {
  test.for<[what: string, body: object]>([
    [
      'null for every field that may be absent',
      {
        ...fit,
        ...{
          parentRunId: null,
          protocolVersion: null,
          state: null,
          tools: null,
          context: null,
          resume: null,
        },
        forwardedProps: { agent: null, timeoutSeconds: null, cancelOnDisconnect: null },
      },
    ],
    ['null for all settings', props(null)],
    [
      'odd messages beside the question',
      { ...fit, messages: [null, 1, 'x', [], { role: 7, toolCalls: [null] }, question] },
    ],
    ['content in several texts', content(['please', ' do'].map((text) => ({ type: 'text', text })))],
    ['a state that nests deep', { ...fit, state: nested(60) }],
    ['a history of 100,000 messages', { ...fit, messages: [...Array(100_000).fill({}), question] }],
    ['half a character in an id', { ...fit, threadId: '\ud800', runId: '\udfff' }],
  ])('with %s', async ([_, body]) => {
    const { url, runs } = await stage({ limits: { maxEnvelopeBytes: 1_000_000 } })
    expect(await refusal(runs, 'ana', body)).toMatchObject({ status: 200 })
    expect(await chats(url)).toMatchObject([{ to: ['ben'], payload: { message: 'please do' } }])
  })

  test('after a rejection without a reason, or with null for one', async () => {
    const { runs, ben } = await stage()
    for (const [id, reason] of Object.entries({ p1: null, p2: '' })) {
      await ben.accepted({
        id,
        kind: Kind.mcpProposal,
        to: ['tool'],
        payload: { method: 'tools/call', params: {} },
      })
      const entry = { interruptId: id, status: 'resolved', payload: { approved: false, reason } }
      expect(await refusal(runs, 'ana', resume(entry))).toMatchObject({ status: 200 })
      const rejected = await ben.next(({ kind }) => kind === Kind.mcpReject)
      expect(rejected).toMatchObject({ correlationId: id, payload: { reason: 'not approved' } })
    }
  })
})

test('a question with half a character is refused', async () => {
  const { url, runs } = await stage()
  const { status, body } = await refusal(runs, 'ana', content('a\ud800'))
  expect([status, body]).toMatchObject([400, { code: 'invalid_json' }])
  expect(await chats(url)).toEqual([])
})

test('two users with the same thread and ids have runs of their own', async () => {
  const { url, ben } = await stage()
  const [anas, eves] = [new Page(url, 'ana'), new Page(url, 'eve')]
  const running = [anas.run()]
  const first = await ben.next(({ kind, from }) => kind === Kind.chat && from === 'ana')
  running.push(eves.run())
  const second = await ben.next(({ kind, from }) => kind === Kind.chat && from === 'eve')
  await ben.accepted(answer(second.id, 'for eve'))
  await ben.accepted(answer(first.id, 'for ana'))
  await Promise.all(running)
  expect([anas.shown.at(-1), eves.shown.at(-1)]).toEqual(['assistant for ana', 'assistant for eve'])
})

describe('a client that is gone leaves no run open', () => {
  const post = (url: string, body: object, length?: number): RawSocket => {
    const text = JSON.stringify(body)
    const headers = [
      `authorization: ${bearer('ana').authorization}`,
      `content-length: ${length ?? text.length}`,
    ]
    return new RawSocket(url).ask('POST /spaces/test/ag-ui', headers, text)
  }

  test('before its body is there', async () => {
    const { url } = await stage()
    const before = await countConnections(url)
    const socket = post(url, fit, 1000)
    socket.socket.end()
    await socket.closed
    expect([await countConnections(url), await chats(url)]).toEqual([before, []])
  })

  test.for([true, false])(
    'before its question is in the log (cancelOnDisconnect: %s)',
    async (cancelOnDisconnect) => {
      const { store, stall } = faultyDisk(memoryStore())
      const { url, ben } = await stage({ store })
      const before = await countConnections(url)
      const { appending, goOn } = stall()
      const socket = post(url, { ...fit, forwardedProps: { cancelOnDisconnect } })
      await appending
      socket.socket.destroy()
      await socket.closed
      goOn()
      await ben.next(({ kind }) => kind === Kind.chat)
      if (cancelOnDisconnect) await ben.next(({ kind }) => kind === Kind.chatCancel)
      await expect.poll(() => countConnections(url)).toBe(before)
    },
  )

  test.for([true, false])('in the middle of a run (cancelOnDisconnect: %s)', async (cancelOnDisconnect) => {
    const { url, ben } = await stage()
    const before = await countConnections(url)
    const socket = post(url, { ...fit, forwardedProps: { cancelOnDisconnect } })
    await beginTurn(ben)
    await socket.until(/how to do it/)
    expect(await countConnections(url)).toBe(before + 1)
    socket.socket.destroy()
    if (cancelOnDisconnect) await ben.next(({ kind }) => kind === Kind.chatCancel)
    await expect.poll(() => countConnections(url)).toBe(before)
    expect(await chats(url)).toHaveLength(cancelOnDisconnect ? 2 : 1)
  })

  test('that reads nothing, when its time is over', async () => {
    const { url, ben } = await stage({ eventHeartbeatMs: 30 })
    const before = await countConnections(url)
    const socket = post(url, { ...fit, forwardedProps: { timeoutSeconds: 0.2 } })
    socket.socket.pause()
    await ben.next(({ kind }) => kind === Kind.chat)
    await expect.poll(() => countConnections(url)).toBe(before)
  })
})
