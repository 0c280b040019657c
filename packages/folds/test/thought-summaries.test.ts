import { type Envelope, PROTOCOL, type WelcomePayload } from '@meup/protocol'
import { expect, test } from 'vitest'
import { summaryText, ThoughtSummaries } from '../src/index.js'

const summary = (context: string, thoughts: number, ...phases: string[]): Envelope => ({
  protocol: PROTOCOL,
  id: 'x',
  ts: '2026-01-01T00:00:00.000Z',
  from: 'system:gateway',
  kind: 'observe.summary',
  context,
  payload: { thoughts, phases },
})
const welcome = (reasoning?: string): WelcomePayload =>
  ({ subscription: { ...(reasoning !== undefined && { reasoning }) } }) as unknown as WelcomePayload

test('a run has the thoughts of its contexts, and those from before a reconnection', () => {
  const summaries = new ThoughtSummaries()
  expect(summaries.apply(summary('run', 2, 'plan'))).toBe('run')
  summaries.apply(summary('run', 3, 'plan', 'execute'))
  summaries.apply(summary('run/in', 4, 'waiting_approval'))
  summaries.apply(summary('runner', 9))
  expect(summaries.get('run')).toEqual({ thoughts: 7, phases: ['plan', 'execute', 'waiting_approval'] })
  summaries.onWelcome(welcome('summary'))
  summaries.apply(summary('run', 5))
  expect(summaries.get('run')).toMatchObject({ thoughts: 12 })
  expect(summaryText(summaries.get('run/in') ?? {})).toBe('4 thoughts: waiting approval')
  expect(summaryText({ thoughts: 1, phases: [] })).toBe('1 thought')
})

test('where the thoughts themselves are sent, there are no counts', () => {
  const summaries = new ThoughtSummaries()
  summaries.apply(summary('run', 2))
  const kept = new ThoughtSummaries()
  kept.restore(summaries.snapshot())
  summaries.onWelcome(welcome())
  expect([summaries.get('run'), kept.get('run')]).toEqual([undefined, { thoughts: 2, phases: [] }])
  expect(summaries.apply({ ...summary('run', 1), kind: 'chat' })).toBeUndefined()
})
