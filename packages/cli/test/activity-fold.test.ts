import type { WelcomePayload } from '@meup/protocol'
import { beforeEach, describe, expect, test } from 'vitest'
import { ActivityFold } from '../src/view/activity-fold.js'
import { envelope } from './support/turns.js'

let now = 0
let activity: ActivityFold
beforeEach(() => {
  now = 1000
  activity = new ActivityFold(() => now)
})

const start = (seq: number, from: string, fields: object = {}) =>
  envelope(seq, 'reasoning.start', from, { payload: { message: `run ${seq}` }, ...fields })
const thought = (seq: number, from: string, context: string, message: string) =>
  envelope(seq, 'reasoning.thought', from, { context, payload: { message } })
const call = (seq: number, name: string) =>
  envelope(seq, 'mcp.request', 'bot', { to: ['files'], payload: { method: 'tools/call', params: { name } } })
const notice = (seq: number, method: string, params: object, correlationId?: string) =>
  envelope(seq, 'mcp.request', 'files', { correlationId, payload: { method, params } })

describe('who thinks', () => {
  test('is told by agent, with its last thought, until it ends', () => {
    for (const each of [
      start(1, 'bot'),
      start(2, 'bot'),
      start(3, 'aide'),
      start(4, 'bot', { context: 'e1' }),
    ]) {
      activity.onEnvelope(each)
    }
    activity.onEnvelope(thought(5, 'bot', 'e1/e4', ' deep\n\u001B[2Jdown'))
    activity.onEnvelope(thought(6, 'aide', 'e1/e4', 'from aside'))
    expect(activity.thinkers()).toEqual([
      { agent: 'bot', since: 1000, runs: 2, waiting: 0, last: 'from aside', isVisible: true },
      { agent: 'aide', since: 1000, runs: 1, waiting: 0, last: '', isVisible: true },
    ])
    activity.onEnvelope(envelope(8, 'reasoning.conclusion', 'aide', { context: 'e3' }))
    activity.onEnvelope(envelope(9, 'reasoning.conclusion', 'bot', { context: 'e1' }))
    expect(activity.thinkers()).toMatchObject([{ agent: 'bot', runs: 1 }])
  })

  test('is known as well from before one came, and no longer when it is told anew', () => {
    const space = { head: 0 }
    const contexts = [
      {
        context: 'old',
        owner: 'bot',
        reasoningVisible: false,
        hiddenBy: ['bot'],
        startedAt: new Date(400).toISOString(),
      },
      { context: 'ahead', owner: 'aide', reasoningVisible: true, startedAt: new Date(9999).toISOString() },
    ]
    activity.reset({ contexts, participants: [], space } as unknown as WelcomePayload)
    expect(activity.thinkers()).toEqual([
      { agent: 'bot', since: 400, runs: 1, waiting: 0, last: '', isVisible: false },
      { agent: 'aide', since: 1000, runs: 1, waiting: 0, last: '', isVisible: true },
    ])
    activity.reset({ contexts: [], participants: [], space } as unknown as WelcomePayload)
    expect(activity.thinkers()).toEqual([])
  })
})

describe('a message to an agent at work', () => {
  const chat = (seq: number, from: string) => envelope(seq, 'chat', from, { payload: { message: 'hi' } })

  test('waits until the agent begins to answer it', () => {
    activity.onEnvelope(chat(1, 'ana'))
    activity.onEnvelope(start(2, 'bot', { correlationId: 'e1' }))
    activity.onEnvelope(chat(3, 'ana'))
    expect(activity.thinkers()).toMatchObject([{ agent: 'bot', waiting: 1 }])
    activity.onEnvelope(start(4, 'bot', { correlationId: 'e3' }))
    expect(activity.thinkers()).toMatchObject([{ agent: 'bot', runs: 2, waiting: 0 }])
  })
})

describe('a tool', () => {
  test('runs until it answers, and says how far it is', () => {
    activity.onEnvelope(call(1, 'search'))
    now = 5000
    activity.onEnvelope(call(2, 'read'))
    activity.onEnvelope(
      notice(3, 'notifications/progress', { progress: 3, total: 10, message: 'a\nb' }, 'e1'),
    )
    activity.onEnvelope(notice(4, 'notifications/progress', { progress: 'far', total: 10 }, 'e2'))
    expect(activity.tools()).toEqual([
      {
        caller: 'bot',
        call: { tool: 'search', args: '', why: 'no reason given' },
        since: 1000,
        progress: { done: 3, total: 10, message: 'a b' },
      },
      { caller: 'bot', call: { tool: 'read', args: '', why: 'no reason given' }, since: 5000 },
    ])
    activity.onEnvelope(
      envelope(5, 'mcp.response', 'files', { correlationId: 'e1', payload: { result: {} } }),
    )
    const cancellation = notice(6, 'notifications/cancelled', { requestId: 'e2' })
    activity.onEnvelope({ ...cancellation, from: 'bot' } as typeof cancellation)
    expect(activity.tools()).toEqual([])
  })
})
