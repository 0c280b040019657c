import type { Fallback, SpaceClient } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import type { AnyEnvelope, McpRequestPayload } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { caughtUp, recordEnvelopes } from './support/record-envelopes.js'

type Notify = Parameters<Fallback>[2]

/** A space with ana, bob, who only observes, and a participant that sends the notifications of the test. */
async function working(work: (notify: Notify) => void) {
  const space = await createTestSpace({
    participants: { ana: ['*'], bob: ['*'], files: ['*'] },
    mcp: { visibility: 'addressees' },
  })
  onTestFinished(() => space.close())
  const [ana, bob, files] = await Promise.all([space.join('ana'), space.join('bob'), space.join('files')])
  files.serve(async ({ payload }, _, notify) => {
    if (payload.method.startsWith('notifications/')) return undefined
    work(notify)
    return { result: { content: [{ type: 'text', text: 'done' }] } }
  })
  return { ana, bob, files, bobHeard: recordEnvelopes(bob), anaHeard: recordEnvelopes(ana) }
}

const log = (data: unknown, level = 'info'): Parameters<Notify>[0] => ({
  method: 'notifications/message',
  params: { level, data },
})

async function call(ana: SpaceClient) {
  const received: McpRequestPayload[] = []
  const { text } = await ana.call('files/work', {}, { onNotification: (each) => received.push(each) })
  expect(text).toBe('done')
  return received
}

const isNotification = ({ kind, payload }: AnyEnvelope): boolean =>
  kind === 'mcp.request' && 'method' in payload && String(payload.method).startsWith('notifications/')

test('notifications of a call go to its caller alone, about the call, before its answer', async () => {
  const { ana, bob, files, anaHeard, bobHeard } = await working((notify) => {
    notify(log('reading'))
    notify({ method: 'notifications/chunk', params: { text: 'one' } })
  })
  const received = await call(ana)
  expect(received).toEqual([
    { jsonrpc: '2.0', ...log('reading') },
    { jsonrpc: '2.0', method: 'notifications/chunk', params: { text: 'one' } },
  ])
  await caughtUp(files, anaHeard)
  const asked = anaHeard.all.find(({ kind }) => kind === 'mcp.request')
  for (const each of anaHeard.all.filter(isNotification)) {
    expect(each).toMatchObject({ from: 'files', to: ['ana'], correlationId: asked?.id })
  }
  await caughtUp(bob, bobHeard)
  expect(bobHeard.all.filter(({ kind }) => kind.startsWith('mcp.'))).toEqual([])
})

test('log messages that come too fast are joined', async () => {
  const { ana } = await working((notify) => {
    for (let n = 0; n < 500; n++) notify(log(`line ${n}`, n < 400 ? 'info' : 'error'))
  })
  const received = await call(ana)
  const lines = received.flatMap(({ params }) => String(params?.data).split('\n'))
  expect(lines).toEqual(Array.from({ length: 500 }, (_, n) => `line ${n}`))
  expect(received.map(({ params }) => params?.level)).toContain('error')
  expect(received.length).toBeLessThan(50)
})

test('the caller is told in one line how many others were dropped', async () => {
  const { ana } = await working((notify) => {
    for (let n = 0; n < 500; n++) notify({ method: 'notifications/chunk', params: { n } })
  })
  const received = await call(ana)
  const chunks = received.filter(({ method }) => method === 'notifications/chunk')
  expect(chunks.map(({ params }) => params?.n)).toEqual(chunks.map((_, n) => n))
  expect(received.slice(chunks.length)).toEqual([
    expect.objectContaining({
      method: 'notifications/message',
      params: expect.objectContaining({
        level: 'warning',
        data: expect.stringContaining(`: ${500 - chunks.length}. `),
      }),
    }),
  ])
})

test('one that is too large for an envelope is counted, too', async () => {
  const { ana } = await working((notify) => notify(log('x'.repeat(300 * 1024))))
  expect(await call(ana)).toMatchObject([
    { params: { level: 'warning', data: expect.stringContaining(': 1. ') } },
  ])
})
