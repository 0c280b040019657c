import { FakeClock } from '@meup/gateway/testing'
import { expect, test } from 'vitest'
import { presence } from '../../gateway/test/client.js'
import { bearer, EventReader } from '../../gateway/test/http-client.js'
import { call, conclude, thought } from '../../gateway/test/turns.js'
import { answer, beginTurn, outside, Page, propose, stage } from './stage.js'

const visibility = (reasoningVisible: boolean) => ({
  kind: 'observe.visibility',
  payload: { context: 'run', reasoningVisible },
})

/** A turn that ben has begun, in a run of ana that shows it. `end`: waits for the last event of ana's run. */
async function underWay(props = {}, options: Parameters<typeof stage>[0] = {}) {
  const staged = await stage(options)
  const page = new Page(staged.url, 'ana')
  const seen: unknown[] = []
  page.agent.subscribe({ onEvent: ({ event }) => void seen.push(event) })
  const running = page.run(props)
  const question = await beginTurn(staged.ben)
  await expect.poll(() => page.shown).toContain('reasoning how to do it')
  const end = async () => {
    // The promise rejects if the run failed; tests check the last event instead.
    await running.catch(() => {})
    return seen.at(-1)
  }
  return { ...staged, page, question, end }
}

test('a run ends as cancelled when its question is taken back', async () => {
  const { post, question, end } = await underWay()
  await post('ana', { kind: 'chat.cancel', to: ['ben'], correlationId: question, payload: {} })
  expect(await end()).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } })
})

test('a run is not cancelled by others', async () => {
  const { ben, post, page, question, end } = await underWay()
  const { status } = await post('eve', { kind: 'chat.cancel', correlationId: question, payload: {} })
  expect(status).toBe(201)
  await ben.accepted(answer(question))
  expect(await end()).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  expect(page.shown.at(-1)).toBe('assistant done')
})

test('a run fails when its agent gives up', async () => {
  const { ben, end } = await underWay()
  await ben.accepted({ kind: 'reasoning.cancel', context: 'run', payload: { reason: 'no model' } })
  expect(await end()).toMatchObject({
    type: 'RUN_ERROR',
    code: 'cancelled',
    message: 'ben has given up: no model',
  })
})

test('a run fails when the program of its agent ends', async () => {
  const { endBen, end } = await underWay()
  await endBen()
  expect(await end()).toMatchObject({
    type: 'RUN_ERROR',
    code: 'abandoned',
    message: 'ben stopped: its program ended',
  })
})

test('a run fails when the program of its agent ends before it reasons; the next one asks anew', async () => {
  const { url, ben, endBen, connect } = await stage()
  const page = new Page(url, 'ana')
  const seen: unknown[] = []
  page.agent.subscribe({ onEvent: ({ event }) => void seen.push(event) })
  const running = page.run()
  const isQuestion = ({ kind, from }: { kind: string; from: string }): boolean =>
    kind === 'chat' && from === 'ana'
  const { id } = await ben.next(isQuestion)
  await endBen()
  await running.catch(() => {}) // A failed run rejects; its last event is compared.
  expect(seen.at(-1)).toMatchObject({
    type: 'RUN_ERROR',
    code: 'abandoned',
    message: 'ben stopped: its program ended',
  })
  const next = await connect('ben', { query: 'session=second' })
  const again = new Page(url, 'ana', page.messages)
  const second = again.run()
  const question = await next.next((each) => isQuestion(each) && each.id !== id)
  await next.accepted(answer(question.id))
  await second
  expect(again.shown.at(-1)).toBe('assistant done')
})

test('a run fails when nobody answers in time, and the turn goes on', async () => {
  const clock = new FakeClock()
  const { url, ben, page, question, end } = await underWay({ timeoutSeconds: 20 }, { clock })
  clock.advance(20_000)
  expect(await end()).toMatchObject({ type: 'RUN_ERROR', code: 'timeout' })
  await ben.accepted(answer(question))
  const again = new Page(url, 'ana', page.messages)
  await again.run()
  expect(again.shown).toEqual(['user please do', 'reasoning how to do it', 'assistant done'])
})

test('a run fails when its agent has left for good', async () => {
  const clock = new FakeClock()
  const { ben, tool, end } = await underWay({}, { clock, reasoning: { abandonAfterMs: 1000 } })
  await ben.close()
  await tool.next(presence('leave', 'ben'))
  clock.advance(1000)
  expect(await end()).toMatchObject({ type: 'RUN_ERROR', code: 'abandoned' })
})

test('a run fails when its user is kicked', async () => {
  const { post, end } = await underWay({}, { participants: { ana: ['*'], ben: ['*'], tool: ['*'] } })
  await post('tool', { kind: 'space.kick', payload: { participantId: 'ana', reason: 'enough' } })
  expect(await end()).toMatchObject({ type: 'RUN_ERROR', code: '4403' })
})

test('a run fails when the gateway stops', async () => {
  const { close, end } = await underWay()
  await Promise.all([close(), end()])
  expect(await end()).toMatchObject({ type: 'RUN_ERROR', code: '1001' })
})

test('a run that is hidden shows no thoughts; what is called and answered goes on', async () => {
  const { ben, page, question, end } = await underWay()
  await ben.accepted(visibility(false))
  await ben.accepted(thought('run', 'a secret thought'))
  await ben.accepted(call('c1', 'run', 'look', 'to know'))
  await ben.accepted({ ...conclude('run'), payload: { message: 'a secret conclusion' } })
  await ben.accepted(answer(question))
  await end()
  expect(page.shown).toEqual([
    'user please do',
    'reasoning how to do it',
    'assistant look{"query":"look"}',
    'assistant done',
  ])
})

test('a run shows what its user may read, and nothing of other turns', async () => {
  const { ben, connect, page, question, end } = await underWay({}, { mcp: { visibility: 'addressees' } })
  await ben.accepted(outside(call('c1', 'run', 'look', 'to know'), question))
  await ben.accepted({ ...thought('run', 'for the tool alone'), to: ['tool'] })
  const { id } = await (await connect('eve')).accepted({ kind: 'chat', payload: { message: 'and me?' } })
  await ben.accepted({
    id: 'other',
    kind: 'reasoning.start',
    correlationId: id,
    payload: { message: 'its turn' },
  })
  await ben.accepted({ ...thought('other', 'of another turn') })
  await ben.accepted({ kind: 'chat', correlationId: id, payload: { message: 'not yours' } })
  await ben.accepted(answer(question))
  await end()
  expect(page.shown).toEqual(['user please do', 'reasoning how to do it', 'assistant done'])
})

test('a call that comes to nothing has a result that says so', async () => {
  const { ben, page, question, end } = await underWay()
  await ben.accepted(propose('p1', { payload: { method: 'tools/call', params: { name: 'act' } } }))
  const { kind: _, ...fields } = propose('p2')
  await ben.accepted({ ...fields, kind: 'mcp.request', to: ['tool'] })
  await end()
  await ben.accepted({ kind: 'mcp.withdraw', correlationId: 'p1', payload: { reason: 'thought better' } })
  await ben.accepted(answer(question))
  await page.run({}, [{ interruptId: 'p1', status: 'cancelled' }])
  expect(page.shown.slice(2)).toEqual([
    'assistant act{}',
    'tool thought better',
    'assistant act{"amount":12,"apiKey":"[redacted]"}',
    'assistant done',
  ])
  expect(page.messages[3]).toMatchObject({ toolCallId: 'p1', metadata: { outcome: 'rejected' } })
})

test('a stream shows that it is alive', async () => {
  const { runs } = await stage({ eventHeartbeatMs: 20 })
  const messages = [{ id: 'q', role: 'user', content: 'please do' }]
  const abort = new AbortController()
  const response = await fetch(runs, {
    method: 'POST',
    headers: bearer('ana'),
    body: JSON.stringify({ threadId: 't', runId: 'r', messages }),
    signal: abort.signal,
  })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  if (response.body === null) throw new Error('nothing came')
  const reader = new EventReader(response.body, () => abort.abort())
  expect(await reader.comment()).toBe(': still here')
  reader.leave()
})

test('a run fails where to follow it costs more than its client may use', async () => {
  const { ben, end } = await underWay({}, { rates: { ana: { work: { perSecond: 10, burst: 400 } } } })
  for (let n = 0; n < 60; n++) await ben.accepted(thought('run', `aside ${n}`))
  expect(await end()).toMatchObject({ type: 'RUN_ERROR', code: 'rate_limited' })
})
