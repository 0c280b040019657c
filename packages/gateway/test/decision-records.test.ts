import { FakeClock, testSpaceConfig } from '@meup/gateway/testing'
import { type DecisionPayload, defaultLimits, type Envelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { Decisions } from '../src/core/decisions.js'
import { Rates } from '../src/core/metering.js'
import { range } from './client.js'

const secondMs = 1000

/** A `Decisions` object whose records are collected instead of logged. */
function recorder(guard: (text: string) => string = (text) => text) {
  const clock = new FakeClock()
  const written: { to: string[]; payload: DecisionPayload }[] = []
  const warnings: unknown[] = []
  const space = {
    config: { name: 'test', limits: defaultLimits },
    clock,
    logger: { info: () => {}, warn: (fields: object) => warnings.push(fields), error: () => {} },
    stopped: undefined as string | undefined,
    rates: new Rates({ config: testSpaceConfig({ participants: {} }) }),
    logUse: { isUsedUp: () => false },
    emit: ({ to, payload }: { to: string[]; payload: object }) =>
      written.push({ to, payload: payload as DecisionPayload }),
    safety: { guard: (text: string) => ({ text: guard(text), isWithheld: false }) },
  }
  const decisions = new Decisions(space)
  const record = (
    rateLimitKey: string,
    sent: Partial<Envelope> = {},
    reasonCode = 'forbidden',
    message = 'no',
  ) =>
    decisions.record(
      {
        sender: { participant: rateLimitKey, rateLimitKey },
        envelope: {
          protocol: 'meup/v0.3',
          id: 'x',
          ts: '',
          from: rateLimitKey,
          kind: 'chat',
          payload: {},
          ...sent,
        },
      },
      { decision: 'denied', reasonCode, message },
    )
  return { clock, written, warnings, space, decisions, record }
}
const payloadOf = (name: unknown, args?: unknown) => ({
  kind: 'mcp.request',
  payload: { method: 'tools/call', params: { name, ...(args !== undefined && { arguments: args }) } },
})

test('guards what it repeats before it cuts it', () => {
  const { written, record } = recorder((text) => text.replaceAll('sk-secret', '[redacted:key]'))
  const name = `${'x'.repeat(120)} sk-secret`
  record('a', payloadOf(name), 'forbidden', 'no sk-secret')
  record('b', payloadOf(`${'x'.repeat(127)}😀`), 'forbidden', 'y'.repeat(9999))
  expect(written.map(({ payload }) => [payload.attemptedTool, payload.message.length])).toEqual([
    [`${'x'.repeat(120)} [redact`, 'no [redacted:key]'.length],
    ['x'.repeat(127), 512],
  ])
  expect(written[0]?.payload.message).toBe('no [redacted:key]')
})

test('repeats the name of a tool, and nothing that is none', () => {
  const { written, record } = recorder((text) => (text === 'withheld' ? '' : text))
  record('a', { ...payloadOf('deploy'), kind: 'mcp.proposal' })
  expect(written.pop()?.payload).toMatchObject({ attemptedTool: 'deploy' })
  record('b', payloadOf(7))
  record('c', payloadOf('withheld'))
  record('d', { kind: 'mcp.request', payload: { method: 'tools/list', params: { name: 'x' } } })
  record('e', { kind: 'chat', payload: { method: 'tools/call', params: { name: 'x' } } })
  record('f', { kind: 'mcp.request', payload: { method: 'tools/call', params: null } })
  expect(written).toHaveLength(5)
  for (const { payload } of written) expect(payload).not.toHaveProperty('attemptedTool')
})

test('says what a refused call was to do, and why, guarded before it is cut', () => {
  const { written, record } = recorder((text) => text.replaceAll('sk-secret', '[redacted:key]'))
  const attempt = { ...payloadOf('deploy', { to: 'prod', with: 'sk-secret' }), correlationId: ['q', 'r'] }
  record('a', { ...attempt, rationale: `${'x'.repeat(2040)} sk-secret` })
  expect(written[0]?.payload).toMatchObject({
    attemptedArguments: { to: 'prod', with: '[redacted:key]' },
    attemptedRationale: `${'x'.repeat(2040)} [redact`,
    attemptedCorrelation: ['q', 'r'],
  })
  record('b', payloadOf('deploy', { text: 'x'.repeat(9000) }))
  record('c', payloadOf('deploy', range(1, 3000)))
  for (const { payload } of written.slice(1)) {
    expect(payload.attemptedArguments).toHaveLength(2048)
    expect(payload).not.toHaveProperty('attemptedRationale')
  }
})

test('records up to sixteen different calls of a second each by itself', () => {
  const { written, record, clock } = recorder()
  const place = { id: 'other', correlationId: 'q2' }
  for (const n of range(1, 30))
    record('a', { ...payloadOf('deploy', { n }), id: `c${n}`, correlationId: 'q1' })
  for (const n of range(1, 2)) record('a', { ...payloadOf('deploy', { n }), ...place })
  record('b', payloadOf('deploy', { n: 1 }))
  const first = written.map(({ payload }) => payload.attemptedArguments)
  expect(first).toEqual([...range(1, 17).map((n) => ({ n })), { n: 1 }])
  clock.advance(secondMs)
  const rest = written.slice(18).map(({ payload }) => payload)
  expect(rest.map(({ count }) => count)).toEqual([1, 1, 13])
  expect(rest[1]).toMatchObject({
    attemptedArguments: { n: 2 },
    attemptedId: 'other',
    attemptedCorrelation: 'q2',
  })
})

test('counts so many at once and no more, and tells the operator of the others', () => {
  const { written, warnings, record, clock } = recorder()
  for (const count of range(1, 262)) record(`p${count}`)
  for (const count of range(1, 262)) record(`p${count}`)
  expect(written).toHaveLength(256)
  clock.advance(secondMs)
  expect(written).toHaveLength(512)
  expect(warnings).toEqual([expect.objectContaining({ space: 'test', decisions: 12 })])
  record('p262')
  expect(written).toHaveLength(513)
  clock.advance(10 * secondMs)
  expect(warnings).toHaveLength(1)
})

test('writes at most twice a second for one participant and one code, however often it is asked', () => {
  const { written, record, clock } = recorder()
  for (const _ of range(1, 10_000)) {
    record('flooder')
    clock.advance(1)
  }
  expect(written.length).toBeLessThanOrEqual(20)
  clock.advance(secondMs)
  expect(written.reduce((sum, { payload }) => sum + payload.count, 0)).toBe(10_000)
})

test('writes nothing while the space takes nothing, and the rest when it does', () => {
  const { written, record, clock, space, decisions } = recorder()
  record('a')
  record('a')
  space.stopped = 'the log cannot be written'
  record('a')
  record('b')
  clock.advance(5 * secondMs)
  expect(written).toHaveLength(1)
  space.stopped = undefined
  clock.advance(secondMs)
  expect(written.map(({ payload }) => payload.count)).toEqual([1, 2])
  record('a')
  record('a')
  space.stopped = 'the gateway is stopping'
  decisions.close()
  record('a')
  clock.advance(5 * secondMs)
  expect(written.map(({ payload }) => payload.count)).toEqual([1, 2, 1, 1])
})

test('tells the operator of what it could not count before it ended', () => {
  const { warnings, record, decisions } = recorder()
  for (const count of range(1, 257)) record(`p${count}`)
  decisions.close()
  expect(warnings).toEqual([expect.objectContaining({ decisions: 1 })])
})

test('tells the operator of what it cannot write', () => {
  const { warnings, record, space, decisions } = recorder()
  record('a')
  record('a')
  space.emit = () => {
    throw new Error('the log cannot be written')
  }
  decisions.close()
  expect(warnings).toEqual([expect.objectContaining({ to: ['a'], reasonCode: 'forbidden', count: 1 })])
})
