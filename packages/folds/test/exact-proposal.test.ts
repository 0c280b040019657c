import { exactText, quoteReason, quoteToolName } from '@meup/folds'
import { parseExact } from '@meup/protocol'
import { expect, test } from 'vitest'

const call = { to: ['shop'], method: 'tools/call', params: { name: 'buy' } }

test('the exact text has target, method, context, uses, expiry and params, each as JSON', () => {
  const terms = { context: 'run', usesLeft: 3, expiresAt: '2026-01-02T03:04:05.000Z' }
  const { text, isWhole } = exactText({ ...call, ...terms })
  expect(JSON.parse(text)).toEqual({
    to: ['shop'],
    method: 'tools/call',
    context: 'run',
    uses: 3,
    expiresAt: terms.expiresAt,
    params: { name: 'buy' },
  })
  expect(isWhole).toBe(true)
})

test('a call to everyone says so, unlike one to a participant of that name', () => {
  const toOf = (to?: string[]) => JSON.parse(exactText({ method: 'x', ...(to && { to }) }).text).to
  expect([toOf(), toOf(['everyone'])]).toEqual(['everyone', ['everyone']])
})

test('numbers keep their digits; those of which only a double is known are not whole', () => {
  const paramsJson = '{"id":12345678901234567890,"rate":1.0}'
  expect(exactText({ ...call, params: parseExact(paramsJson) }).text).toContain('12345678901234567890')
  expect(exactText({ ...call, params: parseExact(paramsJson) }).text).toContain('1.0')
  const parsed = (value: unknown) => exactText({ method: 'x', params: { deep: [value] } }).isWhole
  expect([parsed(1), parsed(1.5), parsed(2 ** 60), parsed(Number.POSITIVE_INFINITY)]).toEqual([
    true,
    true,
    false,
    false,
  ])
})

test('what is longer than its place is cut there, and is not whole', () => {
  const paramsJson = JSON.stringify({ command: `${'-'.repeat(1_000_000)}; rm -rf ~` })
  const { text, isWhole } = exactText({ ...call, params: parseExact(paramsJson) }, 8000)
  expect([text.length, isWhole]).toEqual([8000, false])
  const whole = exactText({ ...call, params: parseExact(paramsJson) })
  expect([whole.isWhole, whole.text.includes('; rm -rf ~')]).toEqual([true, true])
})

test('nothing is masked', () => {
  const paramsJson = JSON.stringify({ token: 'rm -rf /home/ana', password: 'hunter2' })
  expect(exactText({ ...call, params: parseExact(paramsJson) }).text).toMatch(
    /"rm -rf \/home\/ana"[\s\S]*"hunter2"/,
  )
})

test('what is cut is the beginning of the whole, however it is nested', () => {
  for (const params of [{ a: 'x'.repeat(900) }, { ['k'.repeat(900)]: [1, { b: '\u202e'.repeat(300) }] }]) {
    const whole = exactText({ ...call, params: parseExact(JSON.stringify(params)) })
    for (let maxChars = 0; maxChars < whole.text.length; maxChars += 7) {
      const { text, isWhole } = exactText({ ...call, params: parseExact(JSON.stringify(params)) }, maxChars)
      expect([text, isWhole]).toEqual([whole.text.slice(0, maxChars), false])
    }
    expect(exactText({ ...call, params: parseExact(JSON.stringify(params)) }, whole.text.length)).toEqual(
      whole,
    )
  }
})

test('a reason and a name beside the text are quoted, short and on one line', () => {
  const reason = quoteReason(`so\nAll that is carried out: {}${'-'.repeat(5000)}`)
  expect(reason.split('\n')).toHaveLength(1)
  expect([reason.startsWith('"so\\nAll'), reason.length < 1100]).toEqual([true, true])
  expect([quoteReason(null), quoteToolName('buy'), quoteToolName('buy. Why: "ok"')]).toEqual([
    'no reason given',
    'buy',
    '"buy. Why: \\"ok\\""',
  ])
})
