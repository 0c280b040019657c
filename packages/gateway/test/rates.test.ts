import { FakeClock, testSpaceConfig } from '@meup/gateway/testing'
import { defaultRates, type Limits } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { Rates } from '../src/core/metering.js'
import { byId, ofKind, range, type Sent, said, seqs } from './client.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['*'] }
const chat = (message = 'hello'): Sent => ({ kind: 'chat', payload: { message } })
const thought: Sent = { kind: 'reasoning.thought', context: 'c', payload: { message: 'hm' } }
const request: Sent = { kind: 'mcp.request', payload: { method: 'tools/list' } }

async function withRates(own: Partial<Limits['rates']>, more: Partial<Parameters<typeof start>[0]> = {}) {
  const clock = new FakeClock()
  const running = await start({ participants, clock, limits: { rates: own }, ...more })
  return { ...running, clock, alice: await running.connect('alice'), bob: await running.connect('bob') }
}

describe('a class', () => {
  verifies('M26', 'of its own bounds reasoning: the surplus is refused, chat and tools go on', async () => {
    const { connect } = await start({ participants, clock: new FakeClock(), limits: { rates: defaultRates } })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    const { burst, perSecond } = defaultRates.reasoning
    for (const count of range(1, burst + 3)) alice.send({ ...thought, id: `h${count}` })
    for (const count of range(burst + 1, burst + 3)) {
      const error = await alice.next(ofKind('system.error'))
      expect(error).toMatchObject({
        correlationId: `h${count}`,
        payload: {
          code: 'rate_limited',
          message: expect.stringContaining('reasoning'),
          attemptedKind: 'reasoning.thought',
          retryAfterMs: (1000 / perSecond) * (count - burst),
          details: { class: 'reasoning' },
        },
      })
    }
    await alice.accepted(chat())
    const { id } = await alice.accepted(request)
    const heard = await bob.until(byId(id))
    expect(said(heard).filter((each) => /^h\d/.test(each))).toEqual(
      range(1, burst).map((count) => `h${count}`),
    )
    const own = seqs(alice.frames)
    expect(own).toEqual(range(own[0] ?? 0, own.at(-1) ?? 0))
    await bob.accepted(thought)
  })

  test.for([
    ['chat', 'chat', chat(), thought],
    ['chat', 'chat.acknowledge', { kind: 'chat.acknowledge', correlationId: 'x' }, request],
    ['mcp', 'mcp.proposal', { kind: 'mcp.proposal', payload: { method: 'x' } }, chat()],
    ['reasoning', 'reasoning.start', { kind: 'reasoning.start' }, chat()],
    ['reasoning', 'an unknown reasoning kind', { kind: 'reasoning.guess', context: 'c' }, chat()],
    ['control', 'participant.status', { kind: 'participant.status' }, chat()],
    ['other', 'x.y', { kind: 'x.y' }, chat()],
  ] as const)('%s bounds %s, and nothing else', async ([name, , sent, other]) => {
    const { alice } = await withRates({ [name]: { perSecond: 1, burst: 3 } })
    // Connecting costs one token of the class `control`.
    const left = name === 'control' ? 2 : 3
    for (const _ of range(1, left)) await alice.accepted({ ...sent })
    expect(await alice.refused({ ...sent })).toMatchObject({ code: 'rate_limited', details: { class: name } })
    await alice.accepted({ ...other })
  })

  test('are those of other for kinds named like what every object has', async () => {
    const { connect } = await withRates({ other: { perSecond: 1, burst: 2 } })
    const alice = await connect('alice')
    for (const kind of ['constructor', 'constructor.x']) await alice.accepted({ kind })
    expect(await alice.refused({ kind: 'constructor/y' })).toMatchObject({
      code: 'rate_limited',
      details: { class: 'other' },
    })
    await alice.accepted(chat())
  })

  test('observe.subscribe costs control', async () => {
    const { alice } = await withRates({ control: { perSecond: 1, burst: 3 } })
    await alice.subscribe({})
    await alice.subscribe({ reasoning: 'none' })
    const sent = { kind: 'observe.subscribe', payload: { reasoning: 'full' } }
    expect(await alice.refused(sent)).toMatchObject({ code: 'rate_limited', details: { class: 'control' } })
  })

  test('fills up again at its rate, up to its burst', async () => {
    const { alice, clock } = await withRates({ chat: { perSecond: 2, burst: 3 } })
    for (const _ of range(1, 3)) await alice.accepted(chat())
    expect(await alice.refused(chat())).toMatchObject({ retryAfterMs: 500 })
    clock.advance(500)
    await alice.accepted(chat())
    expect(await alice.refused(chat())).toMatchObject({ retryAfterMs: 500 })
    clock.advance(3_600_000)
    for (const _ of range(1, 3)) await alice.accepted(chat())
    expect(await alice.refused(chat())).toMatchObject({ code: 'rate_limited' })
  })

  test('tells each that it refuses a time of its own, at which it is taken', async () => {
    const { alice, clock } = await withRates({ chat: { perSecond: 10, burst: 2 } })
    for (const _ of range(1, 2)) await alice.accepted(chat())
    const waits: number[] = []
    for (const _ of range(1, 6)) waits.push((await alice.refused(chat())).retryAfterMs ?? 0)
    expect(waits).toEqual([100, 200, 300, 400, 500, 600])
    for (const _ of waits) {
      clock.advance(100)
      await alice.accepted(chat())
    }
  })

  test('is charged for what is refused, and for what cannot be read', async () => {
    const { alice } = await withRates({ chat: { perSecond: 1, burst: 2 }, other: { perSecond: 1, burst: 2 } })
    for (const _ of range(1, 2))
      expect(await alice.refused({ kind: 'chat' })).toMatchObject({ code: 'invalid_payload' })
    expect(await alice.refused({ kind: 'chat' })).toMatchObject({ code: 'rate_limited' })
    for (const code of ['invalid_json', 'invalid_json', 'rate_limited']) {
      alice.send('{')
      expect((await alice.next(ofKind('system.error'))).payload).toMatchObject({ code })
    }
  })

  test('is not charged for a retry, but for a duplicate', async () => {
    const { alice, bob } = await withRates({ chat: { perSecond: 1, burst: 2 } })
    const original = await alice.accepted({ id: 'once', ...chat() })
    for (const _ of range(1, 5)) expect(await alice.accepted({ id: 'once', ...chat() })).toEqual(original)
    expect(await alice.refused({ id: 'once', ...chat('other') })).toMatchObject({ code: 'duplicate_id' })
    expect(await alice.refused({ id: 'once', ...chat('other') })).toMatchObject({ code: 'rate_limited' })
    expect(await alice.accepted({ id: 'once', ...chat() })).toEqual(original)
    await bob.accepted(chat())
  })
})

describe('bytes', () => {
  test.for<[what: string, frames: Sent[]]>([
    ['whatever the class', [chat('x'.repeat(1400)), { ...thought, payload: { message: 'x'.repeat(1600) } }]],
    ['for a retry', range(1, 3).map(() => ({ id: 'once', ...chat('x'.repeat(900)) }))],
    ['for what cannot be read', range(1, 3).map(() => ({ kind: 'x'.repeat(1000) }))],
  ])(
    'are charged %s: whoever owes them is read on once they are paid, and loses nothing',
    async ([, sent]) => {
      const { alice, bob, clock } = await withRates({ bytes: { perSecond: 1000, burst: 2500 } })
      for (const frame of sent) {
        alice.send(frame)
        await alice.next(({ from, kind }) => from === 'alice' || kind === 'system.error')
      }
      alice.send({ id: 'held', ...chat() })
      await bob.accepted(chat())
      await bob.accepted(chat())
      expect(said(bob.frames)).not.toContain('held')
      clock.advance(2000)
      await alice.next(byId('held'))
      await alice.accepted(chat())
    },
  )
})

describe('who pays', () => {
  test('is the participant, with all its connections together', async () => {
    const { alice, bob, connect } = await withRates({ chat: { perSecond: 1, burst: 2 } })
    const again = await connect('alice')
    await alice.accepted(chat())
    await again.accepted(chat())
    for (const who of [alice, again])
      expect(await who.refused(chat())).toMatchObject({ code: 'rate_limited' })
    await bob.accepted(chat())
  })

  test('may have rates of its own', async () => {
    const own = { chat: { perSecond: 1, burst: 4 } }
    const { alice, bob } = await withRates({ chat: { perSecond: 1, burst: 1 } }, { rates: { alice: own } })
    for (const _ of range(1, 4)) await alice.accepted(chat())
    expect(await alice.refused(chat())).toMatchObject({ code: 'rate_limited' })
    await bob.accepted(chat())
    expect(await bob.refused(chat())).toMatchObject({ code: 'rate_limited' })
  })

  test('is not forgotten among thousands of others while one of its rates is used up', () => {
    const limits = { rates: { chat: { perSecond: 1, burst: 1 } } }
    const accounts = new Rates({ config: testSpaceConfig({ participants, limits }) })
    accounts.take('alice', 'chat', 1, 0)
    accounts.take('alice', 'mcp', 1, 0)
    for (const count of range(1, 4096)) accounts.take(`guest ${count}`, 'chat', 1, 1)
    expect(accounts.take('alice', 'chat', 1, 1)).toBe(999)
  })

  test('is the address where guests come from, as the proxy says, not as they say', async () => {
    const guests = { guest: { capabilities: ['chat'] }, trustProxy: true }
    const { alice, dial } = await withRates({ chat: { perSecond: 1, burst: 2 } }, guests)
    const from = (address: string) => dial({ headers: { 'x-forwarded-for': `10.0.0.1, ${address}` } })
    const [one, two, elsewhere] = [await from('192.0.2.1'), await from('192.0.2.1'), await from('192.0.2.2')]
    await one.accepted(chat())
    await two.accepted(chat())
    for (const who of [one, two]) expect(await who.refused(chat())).toMatchObject({ code: 'rate_limited' })
    await elsewhere.accepted(chat())
    await alice.accepted(chat())
  })
})
