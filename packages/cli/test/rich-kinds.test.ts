import { expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { Conversation } from '../src/render/conversation.js'
import { envelope } from './support/turns.js'

verifies('M16', 'a terminal shows what thoughts build on, and how sure their author is', () => {
  const context = 'e1'
  const metadata = { confidence: 0.7, approach: 'security-first' }
  const references = ['msg-380', 'msg-390']
  const all = [
    envelope(1, 'reasoning.start', 'bot', { payload: { message: 'Looking', references, metadata } }),
    envelope(2, 'reasoning.thought', 'bot', { context, payload: { message: 'Safe', metadata } }),
    envelope(3, 'reasoning.conclusion', 'bot', { context, payload: { message: 'Done', metadata: {} } }),
  ]
  const terminal = new Conversation()
  expect(all.flatMap((each) => terminal.lines(each))).toEqual([
    'bot ┄ Looking (references: msg-380, msg-390 · confidence: 0.7)',
    '  bot · Safe (confidence: 0.7)',
    '  bot ∎ Done',
  ])
})

test('a terminal names whose run was given up', () => {
  const terminal = new Conversation()
  const all = [
    envelope(1, 'reasoning.start', 'bot', { payload: { message: 'Looking' } }),
    envelope(2, 'reasoning.cancel', 'system:gateway', { context: 'e1', payload: { reason: 'abandoned' } }),
  ]
  expect(all.flatMap((each) => terminal.lines(each))).toEqual([
    'bot ┄ Looking',
    '  ✗ bot stopped: it left and did not come back',
  ])
})

verifies('M29', 'a terminal shows all that thoughts of richer kinds say, and kinds that nobody knows', () => {
  const context = 'e1'
  const all = [
    envelope(1, 'reasoning.start', 'bot', { payload: { goal: 'Is it safe?', approach: 'tests first' } }),
    envelope(2, 'reasoning.question', 'bot', {
      context,
      payload: { questions: ['What is modified?', 'When?'] },
    }),
    envelope(3, 'reasoning.observation', 'bot', {
      context,
      payload: { content: 'Two tests fail', severity: 'high', components: ['oauth2', 'sessions'] },
    }),
    envelope(4, 'reasoning.thought', 'bot', { context, payload: { metadata: { confidence: 0.7 } } }),
    envelope(5, 'reasoning.conclusion', 'bot', {
      context,
      payload: {
        decision: 'do_not_deploy',
        key_factors: ['Two tests fail', 'No way back'],
        recommendation: 'Fix it first',
      },
    }),
    envelope(6, 'deploy.asked', 'ana', { payload: { env: 'test', password: 'swordfish' } }),
  ]
  const terminal = new Conversation()
  expect(all.flatMap((each) => terminal.lines(each))).toEqual([
    'bot ┄ Is it safe?',
    '│ approach: tests first',
    '  bot · question:',
    '  │ - What is modified?',
    '  │ - When?',
    '  bot · observation: Two tests fail',
    '  │ severity: high',
    '  │ components: oauth2, sessions',
    '  bot · confidence: 0.7',
    '  bot ∎ do_not_deploy',
    '  │ key_factors:',
    '  │ - Two tests fail',
    '  │ - No way back',
    '  │ ',
    '  │ recommendation: Fix it first',
    'ana sends deploy.asked: env: test',
    '│ password: [redacted]',
  ])
})
