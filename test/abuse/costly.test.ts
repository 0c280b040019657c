import { FakeClock } from '@meup/gateway/testing'
import { defaultRates, type Envelope, type ErrorPayload } from '@meup/protocol'
import { expect, test } from 'vitest'
import {
  byId,
  type Client,
  errorFor,
  freshId,
  ofKind,
  range,
  type Sent,
} from '../../packages/gateway/test/client.js'
import { start } from '../../packages/gateway/test/support.js'

const participants = {
  eve: ['chat', 'reasoning.*', 'capability.grant'],
  victim: [],
  ana: ['chat'],
  ben: ['chat'],
}
const key = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
const base64 = (text: string): string => Buffer.from(text).toString('base64')

/**
 * 17 capabilities with 61 globs each, which differ only in the last. To compare two such lists takes 250,000 comparisons of
 * globs.
 */
const globs = range(1, 60).map((count) => `*${count.toString(36)}?`)
const lists = range(1, 17).map((count) => ({ kind: 'chat', payload: { message: [...globs, `?x${count}*`] } }))

const classes = Array.from({ length: 4 }, (_, index) => [
  ['from', 'kinds', 'contexts', 'excludeContexts'][index] ?? '',
  ['re:N[\\pL\\pN]{900}'],
])

const metadata = Object.fromEntries(
  range(1, 250).map((count) => [
    `k${count}`,
    base64(count < 250 ? 'so many words '.repeat(46) : `x ${key} y`),
  ]),
)

const keys = Object.fromEntries(range(1, 25_000).map((count) => [count.toString(36), 1]))

async function answerTo(client: Client, sent: Sent): Promise<Envelope> {
  const id = freshId()
  client.send({ ...sent, id })
  return client.next((frame) => byId(id)(frame) || errorFor(id)(frame))
}

test.for<[what: string, sent: Sent, costly: RegExp]>([
  [
    'patterns to compare',
    { kind: 'capability.revoke', payload: { recipient: 'victim', capabilities: lists } },
    /patterns to compare/,
  ],
  [
    'patterns to compile',
    { kind: 'observe.subscribe', payload: Object.fromEntries(classes) },
    /patterns|regular/,
  ],
])('%s: refused, and the others go on', async ([, sent, costly]) => {
  const { connect } = await start({ participants, limits: { rates: defaultRates } })
  const [eve, ana, ben] = [await connect('eve'), await connect('ana'), await connect('ben')]
  await eve.accepted({ kind: 'capability.grant', payload: { recipient: 'victim', capabilities: lists } })
  for (const _ of range(1, 5)) eve.send({ ...sent, id: freshId() })
  const { id } = await ana.accepted({ kind: 'chat', payload: { message: 'hello' } })
  await ben.next(byId(id))
  const { kind, payload } = await answerTo(eve, sent)
  const { code, message } = payload as unknown as ErrorPayload
  expect({ kind, code }).toEqual({
    kind: 'system.error',
    code: expect.stringMatching(/_large|invalid_payload/),
  })
  expect(message).toMatch(costly)
})

test('texts that cost too much to scan are withheld, and the others go on', async () => {
  const { connect } = await start({ participants, limits: { rates: defaultRates } })
  const [eve, ana] = [await connect('eve'), await connect('ana')]
  const thought = { kind: 'reasoning.thought', context: 'run', payload: { message: 'short', metadata } }
  for (const _ of range(1, 3)) eve.send({ ...thought, id: freshId() })
  await ana.accepted({ kind: 'chat', payload: { message: 'hello' } })
  const { payload, seq } = await answerTo(eve, thought)
  expect(seq).toBeGreaterThan(0)
  expect(payload.message).toBe('short')
  const { withheld, unscanned, ...texts } = payload.metadata as Record<string, unknown>
  expect(withheld).toBe(true)
  expect(unscanned).toBeGreaterThan(0)
  expect(JSON.stringify(texts)).not.toContain(metadata.k250)
  const decision = eve.frames.find(ofKind('system.decision'))
  expect(decision?.payload).toMatchObject({ decision: 'blocked', reasonCode: 'payload_too_large' })
})

test('many keys are refused where they cost more than the space lets an envelope cost', async () => {
  const chat = { kind: 'chat', payload: { message: 'hello', keys } }
  for (const [work, code] of [
    [undefined, undefined],
    [1000, 'payload_too_large'],
  ] as const) {
    const limits = { rates: defaultRates, ...(work !== undefined && { work }) }
    const { connect } = await start({ participants, limits })
    const eve = await connect('eve')
    const { payload } = await answerTo(eve, chat)
    expect(payload.code).toBe(code)
    if (code !== undefined) expect(payload.message).toContain('keys')
    await eve.accepted({ kind: 'chat', payload: { message: 'hello' } })
  }
})

test('what was refused is charged: whoever owes work posts nothing until it is paid', async () => {
  const owed: unknown[] = []
  for (const _ of range(1, 2)) {
    const clock = new FakeClock()
    const rates = { eve: { work: { perSecond: 1000, burst: 300 } } }
    const { post } = await start({ participants, clock, rates, limits: { rates: defaultRates } })
    const chat = { kind: 'chat', payload: { message: 'hello' } }
    expect(await post('eve', [chat, chat])).toMatchObject({ status: 201 })
    const capabilities = { recipient: 'victim', capabilities: lists }
    const costly = { kind: 'capability.grant', payload: { ...capabilities, recipient: 'nobody' } }
    await post('eve', { kind: 'capability.grant', payload: capabilities })
    await post('eve', costly)
    clock.advance(1)
    const late = await post('eve', chat)
    expect(late).toMatchObject({
      status: 429,
      body: { code: 'rate_limited', detail: expect.stringContaining('for work') },
    })
    owed.push((late.body as { retryAfterMs: number }).retryAfterMs)
    expect(await post('ana', chat)).toMatchObject({ status: 201 })
    clock.advance(Number(owed.at(-1)))
    expect(await post('eve', chat)).toMatchObject({ status: 201 })
  }
  // Work is counted in units, not in time: the same envelope costs the same again.
  expect(owed[1]).toBe(owed[0])
})

test('names of tools in refused calls are scanned and their sender pays, also where one record stands for many', async () => {
  const rates = { ana: { work: { perSecond: 1, burst: 25_000 } } }
  const { post } = await start({ participants, clock: new FakeClock(), rates })
  const call = (name: string) =>
    post('ana', { kind: 'mcp.request', payload: { method: 'tools/call', params: { name } } })
  for (const count of range(1, 16)) await call(`tool ${count}`)
  const long = 'token:'.repeat(2000)
  for (const end of ['a', 'b']) expect(await call(long + end)).toMatchObject({ status: 403 })
  expect(await call('tool')).toMatchObject({ status: 429, body: { class: 'work' } })
})

test('the welcome that answers a subscription is charged by its bytes', async () => {
  const clock = new FakeClock()
  const rates = { eve: { bytes: { perSecond: 1, burst: 2000 } } }
  const crowd = Object.fromEntries(range(1, 50).map((count) => [`p${count}`, ['chat', 'reasoning.*']]))
  const { connect, post } = await start({ participants: { ...participants, ...crowd }, clock, rates })
  const eve = await connect('eve')
  await eve.subscribe({ reasoning: 'none' })
  const chat = { kind: 'chat', payload: { message: 'hello' } }
  expect(await post('eve', chat)).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
})
