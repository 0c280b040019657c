import { Pauses } from '@meup/folds'
import { memoryStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { Kind, kindRules } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { byId, ofKind, range, type Sent, said } from './client.js'
import { start } from './support.js'

const participants = { agent: ['*'], boss: ['*'], other: ['chat'] }
const chat = (message = 'hello'): Sent => ({ kind: 'chat', payload: { message } })
const pause = (payload: Record<string, unknown> = {}, to = ['agent']): Sent => ({
  kind: 'participant.pause',
  to,
  payload,
})
const resume = (to = ['agent']): Sent => ({ kind: 'participant.resume', to })

async function agentAndBoss(options: Partial<Parameters<typeof start>[0]> = {}) {
  const clock = new FakeClock()
  const running = await start({ participants, clock, ...options })
  return { ...running, clock, agent: await running.connect('agent'), boss: await running.connect('boss') }
}

describe('whoever is paused', () => {
  /** Envelopes that a paused participant may send, each in a valid situation. */
  const allowed: readonly Sent[] = [
    { kind: 'chat.acknowledge', correlationId: 'question' },
    { kind: 'chat.cancel', correlationId: 'question' },
    { kind: 'mcp.response', correlationId: 'ask', payload: { result: {} } },
    { kind: 'mcp.withdraw', correlationId: 'plan', payload: { reason: 'stopped' } },
    { kind: 'participant.status', payload: { tokens: 7 } },
    { kind: 'reasoning.cancel', context: 'one' },
    { kind: 'reasoning.conclusion', context: 'two' },
  ]

  test('may finish what others wait for, and do nothing else', async () => {
    const { agent, boss } = await agentAndBoss()
    for (const id of ['one', 'two']) await agent.accepted({ id, kind: 'reasoning.start' })
    await boss.accepted({ id: 'ask', kind: 'mcp.request', to: ['agent'], payload: { method: 'ping' } })
    await agent.accepted({ id: 'plan', kind: 'mcp.proposal', payload: { method: 'ping' } })
    await boss.accepted(pause())
    const kinds = Object.values(Kind).filter((kind) => kindRules[kind].gateway === undefined)
    const free = ['observe.subscribe', ...allowed.map(({ kind }) => kind)]
    const refused = [...kinds, 'reasoning.guess', 'chat.x', 'x.y'].filter((kind) => !free.includes(kind))
    expect(refused).toHaveLength(kinds.length - 8 + 3)
    for (const kind of refused) {
      expect(await agent.refused({ kind })).toMatchObject({ code: 'participant_paused', attemptedKind: kind })
    }
    for (const sent of allowed) await agent.accepted(sent)
    expect((await agent.subscribe({ reasoning: 'none' })).subscription).toMatchObject({ reasoning: 'none' })
    await boss.accepted(chat('mark'))
    expect(boss.frames.filter(({ from }) => from === 'agent').map(({ kind }) => kind)).toEqual([
      'reasoning.start',
      'reasoning.start',
      'mcp.proposal',
      ...allowed.map(({ kind }) => kind),
    ])
  })

  test('is told by whom, why and until when', async () => {
    const { agent, boss, clock } = await agentAndBoss()
    await boss.accepted(pause({ reason: 'you repeat yourself', timeoutSeconds: 90 }))
    clock.advance(30_000)
    const until = new Date(clock.now() + 60_000).toISOString()
    const refusal = await agent.refused(chat())
    expect(refusal).toMatchObject({ code: 'participant_paused', retryAfterMs: 60_000 })
    for (const part of ['boss', 'you repeat yourself', until]) expect(refusal.message).toContain(part)

    await boss.accepted(pause())
    const endless = await agent.refused(chat())
    expect(endless.message).toMatch(/boss .*resume/)
    expect(endless).not.toHaveProperty('retryAfterMs')
  })

  test('is paused as long as MEW clients say', async () => {
    const { agent, boss, clock } = await agentAndBoss()
    const { payload } = await boss.accepted(pause({ timeout_seconds: 90 }))
    expect(payload).toEqual({ timeoutSeconds: 90 })
    expect(await agent.refused(chat())).toMatchObject({ code: 'participant_paused', retryAfterMs: 90_000 })
    clock.advance(90_000)
    await agent.accepted(chat())
  })

  test('is told no more of a long reason than fits, and a long pause has an end', async () => {
    const { agent, boss } = await agentAndBoss()
    await boss.accepted(pause({ reason: `${'x'.repeat(199)}😀`, timeoutSeconds: 1e300 }))
    const { message, retryAfterMs } = await agent.refused(chat())
    expect(message.length).toBeLessThan(400)
    expect(message.isWellFormed()).toBe(true)
    expect(Number.isSafeInteger(retryAfterMs)).toBe(true)
  })

  test('is paused on all its connections, on new ones, and over HTTP', async () => {
    const { agent, boss, connect, post } = await agentAndBoss()
    const second = await connect('agent')
    await boss.accepted(pause())
    for (const line of [agent, second, await connect('agent')]) {
      expect(await line.refused(chat())).toMatchObject({ code: 'participant_paused' })
    }
    expect(await post('agent', chat())).toMatchObject({ status: 403, body: { code: 'participant_paused' } })
    expect(await post('agent', { kind: 'participant.status' })).toMatchObject({ status: 201 })
    expect(await post('other', chat())).toMatchObject({ status: 201 })
  })

  test('gets what it has sent before acknowledged once more', async () => {
    const { agent, boss } = await agentAndBoss()
    const original = await agent.accepted({ id: 'once', ...chat() })
    await boss.accepted(pause())
    expect(await agent.accepted({ id: 'once', ...chat() })).toEqual(original)
    expect(await agent.refused({ id: 'once', ...chat('other') })).toMatchObject({ code: 'duplicate_id' })
  })

  test('is told that before it is told what it may not do, and pays for asking', async () => {
    const plenty = { perSecond: 1e9, burst: 1e9 }
    const rates = { chat: plenty, mcp: { perSecond: 1, burst: 2 } }
    const { boss, connect } = await agentAndBoss({ rates: { other: rates } })
    const other = await connect('other')
    await boss.accepted(pause({}, ['other']))
    const request = { kind: 'mcp.request', payload: { method: 'ping' } }
    for (const code of ['participant_paused', 'participant_paused', 'rate_limited']) {
      expect(await other.refused(request)).toMatchObject({ code })
    }
  })

  test('keeps nobody else from acting, and hears everything', async () => {
    const { agent, boss } = await agentAndBoss()
    await boss.accepted(pause())
    const { id } = await boss.accepted(chat())
    expect(said(await agent.until(byId(id)))).toContain(id)
  })
})

describe('a pause', () => {
  test('ends after its time, to the millisecond', async () => {
    const { agent, boss, clock } = await agentAndBoss()
    await boss.accepted(pause({ timeoutSeconds: 0.25 }))
    clock.advance(249)
    expect(await agent.refused(chat())).toMatchObject({ code: 'participant_paused', retryAfterMs: 1 })
    clock.advance(1)
    await agent.accepted(chat())
  })

  test('ends when somebody resumes it, whoever began it', async () => {
    const { agent, boss, connect, post } = await agentAndBoss({
      participants: { ...participants, deputy: ['participant.resume'] },
    })
    await boss.accepted(pause({ timeoutSeconds: 90 }))
    const other = await connect('other')
    expect(await other.refused(resume())).toMatchObject({ code: 'capability_violation' })
    expect(await agent.refused(resume())).toMatchObject({ code: 'participant_paused' })
    expect(await post('deputy', resume())).toMatchObject({ status: 201 })
    await agent.accepted(chat())
  })

  test('stops all whom it names, also whoever sends it, and so does its end', async () => {
    const { agent, boss, connect } = await agentAndBoss()
    const other = await connect('other')
    expect(await boss.refused(pause({}, ['agent', 'boss']))).toMatchObject({
      code: 'forbidden',
      details: { path: '/to/1' },
    })
    await boss.accepted(pause({ timeoutSeconds: 60 }, ['agent', 'other', 'boss']))
    for (const who of [agent, other, boss]) {
      expect(await who.refused(chat())).toMatchObject({ code: 'participant_paused' })
    }
    const { post } = await agentAndBoss()
    await post('boss', pause({}, ['agent', 'other']))
    await post('boss', resume(['other']))
    expect(await post('other', chat())).toMatchObject({ status: 201 })
    expect(await post('agent', chat())).toMatchObject({ status: 403 })
  })

  test('needs a capability, and somebody whom the space knows', async () => {
    const { agent, boss, connect } = await agentAndBoss()
    const other = await connect('other')
    expect(await other.refused(pause())).toMatchObject({ code: 'capability_violation' })
    expect(await boss.refused(pause({}, ['nobody']))).toMatchObject({ code: 'participant_not_found' })
    await agent.accepted(chat())
  })

  test('counts at once, before it is committed', async () => {
    const { agent, boss } = await agentAndBoss()
    agent.send({ id: 'last', ...pause({ timeoutSeconds: 60 }, ['agent']) })
    agent.send({ id: 'late', ...chat() })
    expect(await agent.next(ofKind('system.error'))).toMatchObject({ correlationId: 'late' })
    const { id } = await boss.accepted(chat('mark'))
    expect(said(boss.frames)).toEqual([id])
  })

  test('outlives the gateway, and its time runs on meanwhile', async () => {
    const spaces = new Map()
    const clock = new FakeClock()
    const first = await agentAndBoss({ clock, store: memoryStore(spaces) })
    await first.boss.accepted(pause({ timeoutSeconds: 60, reason: 'a break' }))
    await first.boss.accepted(pause({}, ['other']))
    await first.close()
    clock.advance(59_000)
    const second = await agentAndBoss({ clock, store: memoryStore(spaces) })
    expect(await second.agent.refused(chat())).toMatchObject({
      code: 'participant_paused',
      message: expect.stringContaining('a break'),
      retryAfterMs: 1000,
    })
    clock.advance(1000)
    await second.agent.accepted(chat())
    expect(await second.post('other', chat())).toMatchObject({ status: 403 })
  })
})

test('past ten thousand the oldest pauses are forgotten, those that are over before them', () => {
  const pauses = new Pauses()
  const apply = (ids: readonly string[], timeoutSeconds?: number) =>
    pauses.apply({
      protocol: 'meup/v0.3',
      id: 'x',
      ts: '2026-01-01T00:00:00.000Z',
      from: 'boss',
      to: [...ids],
      kind: 'participant.pause',
      payload: { ...(timeoutSeconds !== undefined && { timeoutSeconds }) },
    })
  const now = Date.UTC(2026, 0, 1)
  const isPaused = (id: string): boolean => pauses.get(id, now) !== undefined
  apply(['first', 'second'])
  apply(['brief'], Number.MIN_VALUE)
  for (const batch of range(1, 9_998 / 2)) apply([`a${batch}`, `b${batch}`])
  expect(['first', 'second', 'a1', 'b4999'].map(isPaused)).toEqual([true, true, true, true])
  apply(['last', 'first'])
  expect(['first', 'second', 'a1', 'last'].map(isPaused)).toEqual([true, false, true, true])
  expect(pauses.snapshot()).toHaveLength(10_000)
})
