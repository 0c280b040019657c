import { FakeClock } from '@meup/gateway/testing'
import { type DecisionPayload, defaultLimits, type Envelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { Decisions } from '../src/space/decisions.js'
import { range } from './client.js'

const secondMs = 1000

/** A space that only takes records. */
function recorder(guard: (text: string) => string = (text) => text) {
  const clock = new FakeClock()
  const written: { to: string[]; payload: DecisionPayload }[] = []
  const warnings: unknown[] = []
  const space = {
    config: { name: 'test', limits: defaultLimits },
    clock,
    logger: { info: () => {}, warn: (fields: object) => warnings.push(fields), error: () => {} },
    stopped: undefined as string | undefined,
    emit: ({ to, payload }: { to: string[]; payload: object }) =>
      written.push({ to, payload: payload as DecisionPayload }),
    safety: { guard: (text: string) => ({ text: guard(text) }) },
  }
  const decisions = new Decisions(space)
  const record = (payer: string, sent: Partial<Envelope> = {}, reasonCode = 'forbidden', message = 'no') =>
    decisions.record(
      {
        sender: { participant: payer, payer },
        envelope: {
          protocol: 'meup/v0.3',
          id: 'x',
          ts: '',
          from: payer,
          kind: 'chat',
          payload: {},
          ...sent,
        },
      },
      { decision: 'denied', reasonCode, message },
    )
  return { clock, written, warnings, space, decisions, record }
}
const payloadOf = (name: unknown) => ({
  kind: 'mcp.request',
  payload: { method: 'tools/call', params: { name } },
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

test('counts so many at once and no more, and tells the operator of the others', () => {
  const { written, warnings, record, clock } = recorder()
  for (const count of range(1, 70)) record(`p${count}`)
  for (const count of range(1, 70)) record(`p${count}`)
  expect(written).toHaveLength(64)
  clock.advance(secondMs)
  expect(written).toHaveLength(128)
  expect(warnings).toEqual([expect.objectContaining({ space: 'test', decisions: 12 })])
  record('p70')
  expect(written).toHaveLength(129)
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
  for (const count of range(1, 65)) record(`p${count}`)
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
  expect(warnings).toEqual([expect.objectContaining({ to: 'a', reasonCode: 'forbidden', count: 1 })])
})
