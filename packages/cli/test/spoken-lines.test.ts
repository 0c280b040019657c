import type { AnyEnvelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { SpokenLines } from '../src/render/spoken-lines.js'
import { ActivityFold } from '../src/view/activity-fold.js'
import { envelope } from './support/turns.js'

test('what happens is told in sentences, without signs and without what cannot be heard', () => {
  const activity = new ActivityFold()
  const words = new SpokenLines(() => activity.contexts)
  const speak = (each: AnyEnvelope): string[] => {
    activity.onEnvelope(each)
    return words.lines(each)
  }
  const call = {
    to: ['files'],
    context: 'e2',
    rationale: 'to\nknow',
    payload: { method: 'tools/call', params: { name: 'read', arguments: { path: 'a.txt' } } },
  }
  const all = [
    envelope(1, 'chat', 'ana', { payload: { message: 'Deploy?\n\u001B[2JNow?' } }),
    envelope(2, 'reasoning.start', 'bot', { correlationId: 'e1', payload: { message: 'Looking' } }),
    envelope(3, 'reasoning.thought', 'bot', { context: 'e2', payload: { message: 'hm \u202E' } }),
    envelope(4, 'reasoning.thought', 'bot', { context: 'e2', payload: { message: '' } }),
    envelope(4, 'reasoning.question', 'bot', {
      context: 'e2',
      payload: { questions: ['Is it safe?', 'When?'] },
    }),
    envelope(5, 'mcp.request', 'bot', call),
    envelope(6, 'mcp.response', 'files', { correlationId: 'e5', payload: { result: {} } }),
    envelope(7, 'mcp.request', 'files', { payload: { method: 'notifications/progress' } }),
    envelope(8, 'mcp.proposal', 'bot', { ...call, context: 'e2' }),
    envelope(9, 'reasoning.conclusion', 'bot', { context: 'e2', payload: { message: 'fine' } }),
    envelope(10, 'reasoning.start', 'bot', { payload: {} }),
    envelope(11, 'reasoning.cancel', 'bot', { context: 'e10', payload: { reason: 'enough' } }),
    envelope(12, 'reasoning.thought', 'bot', { context: 'e2', payload: { message: 'oh' } }),
    envelope(13, 'system.presence', 'system:gateway', {
      payload: { event: 'join', participant: { id: 'ben' } },
    }),
    ...['pause', 'grant', 'proposal'].map((what) =>
      envelope(14, 'system.presence', 'system:gateway', {
        payload: { event: 'update', participant: { id: 'bot' }, ended: { what, id: 'e8' } },
      }),
    ),
  ]
  const lines = all.flatMap(speak)
  expect(lines).toEqual([
    'ana says: Deploy?',
    'ana goes on: [2JNow?',
    'bot begins to think: Looking',
    'bot thinks: hm',
    'bot thinks, question: - Is it safe? - When?',
    'bot calls read, because: to know',
    'read of files answers',
    'bot asks whether read of files may be called with {"path":"a.txt"}, because: to know. To decide: /approve e8 or /reject e8',
    'bot concludes: fine. It took 7 ms and 1 tool',
    'bot begins to think',
    'bot stops thinking: enough',
    'bot thinks, late: oh',
    'ben is here',
    'bot is no longer paused',
    'bot no longer has what e8 granted',
    'bot no longer waits: its proposal e8 has expired',
  ])
  expect(lines.join('\n')).not.toMatch(/[┄∎·→←○●▸✗✓⚠]/)
})
