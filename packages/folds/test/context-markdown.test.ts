import { contextMarkdown, detailsText, payloadText, thoughtSteps, thoughtText } from '@meup/folds'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { call, cancel, chat, type Fields, result, start, thought, toLog } from './support/log.js'

// The expected texts were written by hand, not copied from the output.

describe('a context as Markdown', () => {
  verifies('M32', 'a free path with what is below it names each speaker', () => {
    const at = (path: string) => ({ context: path })
    const log = toLog([
      chat('agent', 'Let me check the file permissions...', at('reason-789')),
      call('agent', 'check_permissions', undefined, at('reason-789/permissions')),
      result('e2', 'root only'),
      chat('helper', 'Requires elevated access', at('reason-789/permissions/result')),
      thought('helper', 'Is there a copy?', at('reason-789')),
      { kind: 'deploy.asked', from: 'ann', context: 'reason-789', payload: { message: 'Now?', env: 'test' } },
    ])
    expect(contextMarkdown('reason-789', log)).toBe(`## Context reason-789

agent says: Let me check the file permissions...

### reason-789/permissions

agent calls check_permissions of tools — no reason given (tool_call: e2)

[実行] check_permissions -> root only (tool_call: e2)

### reason-789/permissions/result

helper says: Requires elevated access

### reason-789

helper [思考] Is there a copy?

ann sends deploy.asked: Now?
> env: test
`)
  })

  test('a call whose answer is not in the context, nested starts, and free ones', () => {
    const log = toLog([
      start('agent', 'Looking', { id: 'r' }),
      start('agent', 'Deeper', { id: 'n', context: 'r' }),
      call('agent', 'look', {}, { context: 'r/n', rationale: 'to see' }),
    ])
    expect(contextMarkdown('r', log)).toBe(`## Context r

agent begins: Looking

### r/n

agent begins: Deeper

agent calls look of tools — "to see" (tool_call: e3)

look -> no answer here yet (tool_call: e3)
`)
    const cancelled = [...log, ...toLog([cancel('agent', 'r', 'too slow')], 4)]
    expect(contextMarkdown('r', cancelled)).toContain('\n\nlook -> cancelled: too slow (tool_call: e3)\n')
    const free = toLog([start('agent', 'Deeper', { id: 'n', context: 'plans' })])
    expect(contextMarkdown('plans', free)).toBe('## Context plans\n\nagent begins: Deeper\n')
  })

  verifies('M29', 'richer kinds show all that they say', () => {
    const rich = (kind: string, payload: object): Fields => ({
      kind: `reasoning.${kind}`,
      from: 'agent',
      context: 'reason-123',
      payload: { ...payload },
    })
    const log = toLog([
      rich('start', {
        goal: 'Evaluate deployment safety for auth system changes',
        triggered_by: 'user-request',
        approach: 'security-first analysis',
      }),
      rich('question', {
        questions: ['What specific auth components are modified?', 'Is there a rollback plan?'],
      }),
      rich('thought', { content: 'Need to check the diff and test results first' }),
      rich('observation', {
        content: 'Changes affect OAuth2 token validation and session management',
        severity: 'high',
        components: ['oauth2', 'sessions'],
      }),
      rich('hypothesis', {
        hypothesis: 'The code change introduces a regression in token expiration',
        confidence: 0.85,
        evidence: ['test_failures', 'oauth2_changes'],
      }),
      rich('estimate', { cost: { low: 1, high: 3 }, sure: false, note: null }),
      rich('conclusion', {
        decision: 'do_not_deploy',
        confidence: 0.92,
        key_factors: ['Failed security tests', 'Critical auth components affected'],
        recommendation: 'Fix token expiration issues and re-test before deployment',
      }),
    ])
    expect(contextMarkdown('reason-123', log)).toBe(`## Context reason-123

agent begins: Evaluate deployment safety for auth system changes
> triggered_by: user-request
> approach: security-first analysis

agent [思考] question:
> - What specific auth components are modified?
> - Is there a rollback plan?

agent [思考] Need to check the diff and test results first

agent [思考] observation: Changes affect OAuth2 token validation and session management
> severity: high
> components: oauth2, sessions

agent [思考] hypothesis: The code change introduces a regression in token expiration
> confidence: 0.85
> evidence: test_failures, oauth2_changes

agent [思考] estimate: cost: { "low": 1, "high": 3 }
> sure: false
> note: null

agent concludes: do_not_deploy
> confidence: 0.92
> key_factors:
> - Failed security tests
> - Critical auth components affected
>
> recommendation: Fix token expiration issues and re-test before deployment
`)
  })
})

describe('what a payload says', () => {
  verifies('M29', 'a thought of fields alone is one step', () => {
    expect(thoughtSteps({ questions: ['Is it safe?', 'Is it fast?'] })).toEqual([
      { phase: 'thinking', content: 'questions:\n- Is it safe?\n- Is it fast?' },
    ])
    expect(thoughtSteps({ phase: 'plan', steps: ['read', 'decide'] })).toEqual([
      { phase: 'plan', content: 'steps: read, decide' },
    ])
    expect(thoughtSteps({ content: '1. Read\nIt failed', severity: 'high' })).toEqual([
      { phase: 'plan', content: '1. Read' },
      { phase: 'error', content: 'It failed\nseverity: high' },
    ])
    expect(thoughtSteps({})).toEqual([])
    expect(thoughtSteps({ message: '', metadata: { withheld: true } })).toEqual([])
  })

  test('its text first, and what it is about where it says nothing else', () => {
    expect(payloadText({ severity: 'high', content: 'Two tests fail' })).toBe(
      'Two tests fail\nseverity: high',
    )
    expect(payloadText({ message: 'Hi', content: 'Hello' })).toBe('Hi\ncontent: Hello')
    expect(payloadText({ message: 7 })).toBe('message: 7')
    expect(payloadText({ message: 'Hi', format: 'markdown', phase: 'plan', references: ['m1'] })).toBe('Hi')
    const about = { references: ['m1', 'm2'], metadata: { confidence: 0.7, withheld: true } }
    expect([payloadText(about), detailsText(about), thoughtText(about)]).toEqual([
      '',
      'references: m1, m2 · confidence: 0.7',
      'references: m1, m2 · confidence: 0.7',
    ])
    expect(payloadText({})).toBe('')
  })

  test('bounded, and without secrets where it is guarded', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`field${at}`, 'x'.repeat(100)]))
    expect(payloadText(many).length).toBeLessThan(8500)
    expect(payloadText(many).endsWith('\n…')).toBe(true)
    expect(payloadText({ all: Array(100_000).fill('some words') }).length).toBeLessThan(8500)
    const guard = (text: string) => ({ text: text.replace('sesame', '***'), isWithheld: false })
    expect(payloadText({ note: 'open sesame', password: 'abc' }, guard)).toBe(
      'note: open ***\npassword: [redacted]',
    )
  })
})
