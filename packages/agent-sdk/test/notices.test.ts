import type { Fallback, SpaceClient } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import type { AnyEnvelope, McpRequestPayload } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { caughtUp, hear } from './support/hear.js'

type Tell = Parameters<Fallback>[2]

/** Ana, bob who only watches, and a participant that tells of its work as the test says. */
async function working(work: (tell: Tell) => void) {
  const space = await createTestSpace({
    participants: { ana: ['*'], bob: ['*'], files: ['*'] },
    mcp: { visibility: 'addressees' },
  })
  onTestFinished(() => space.close())
  const [ana, bob, files] = await Promise.all([space.join('ana'), space.join('bob'), space.join('files')])
  files.serve(async ({ payload }, _, tell) => {
    if (payload.method.startsWith('notifications/')) return undefined
    work(tell)
    return { result: { content: [{ type: 'text', text: 'done' }] } }
  })
  return { ana, bob, files, bobHeard: hear(bob), anaHeard: hear(ana) }
}

const log = (data: unknown, level = 'info'): Parameters<Tell>[0] => ({
  method: 'notifications/message',
  params: { level, data },
})

async function call(ana: SpaceClient) {
  const told: McpRequestPayload[] = []
  const { text } = await ana.call('files/work', {}, { onNotification: (each) => told.push(each) })
  expect(text).toBe('done')
  return told
}

const isNotification = ({ kind, payload }: AnyEnvelope): boolean =>
  kind === 'mcp.request' && 'method' in payload && String(payload.method).startsWith('notifications/')

test('notifications of a call go to its caller alone, about the call, before its answer', async () => {
  const { ana, bob, files, anaHeard, bobHeard } = await working((tell) => {
    tell(log('reading'))
    tell({ method: 'notifications/chunk', params: { text: 'one' } })
  })
  const told = await call(ana)
  expect(told).toEqual([
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
  const { ana } = await working((tell) => {
    for (let n = 0; n < 500; n++) tell(log(`line ${n}`, n < 400 ? 'info' : 'error'))
  })
  const told = await call(ana)
  const lines = told.flatMap(({ params }) => String(params?.data).split('\n'))
  expect(lines).toEqual(Array.from({ length: 500 }, (_, n) => `line ${n}`))
  expect(told.map(({ params }) => params?.level)).toContain('error')
  expect(told.length).toBeLessThan(50)
})

test('the caller is told in one line how many others were dropped', async () => {
  const { ana } = await working((tell) => {
    for (let n = 0; n < 500; n++) tell({ method: 'notifications/chunk', params: { n } })
  })
  const told = await call(ana)
  const chunks = told.filter(({ method }) => method === 'notifications/chunk')
  expect(chunks.map(({ params }) => params?.n)).toEqual(chunks.map((_, n) => n))
  expect(told.slice(chunks.length)).toEqual([
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
  const { ana } = await working((tell) => tell(log('x'.repeat(300 * 1024))))
  expect(await call(ana)).toMatchObject([
    { params: { level: 'warning', data: expect.stringContaining(': 1. ') } },
  ])
})
