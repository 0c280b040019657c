import type { PolicyRule } from '@meup/safety'
import { describe, expect, test, vi } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { gate, ownRules, seen, token } from './support.js'

const policy = (action: PolicyRule['action'], pattern: string, name = `own-${action}`): PolicyRule => ({
  name,
  pattern,
  action,
})
const withheld = { text: '', isWithheld: true }
const marker = '<|im_start|>'

describe('leaks', () => {
  test('are masked, or withhold the text, as their rule says', () => {
    expect(gate().guard(`see ${token}`)).toEqual({
      text: 'see [redacted:own-token]',
      isWithheld: false,
      findings: [{ rule: 'own-token', action: 'mask' }],
    })
    expect(gate().guard('see zx-123456789012')).toEqual({
      ...withheld,
      findings: [{ rule: 'own-blocked', action: 'block' }],
    })
  })

  test('withhold the text whatever their rule says, if the space wants that', () => {
    expect(gate({ onLeak: 'block' }).guard(`see ${token}`)).toEqual({
      ...withheld,
      findings: [{ rule: 'own-token', action: 'block' }],
    })
  })

  test('withhold the text though a rule that masks finds the same', () => {
    expect(gate().guard('phrase: zx-123456789012').isWithheld).toBe(true)
    expect(gate().guard('456789012', 'phrase: zx-123').isWithheld).toBe(true)
  })

  test('are told once for each rule', () => {
    expect(gate().guard(`${token} ${token} phrase: hunter22`).findings).toEqual([
      { rule: 'own-token', action: 'mask' },
      { rule: 'own-phrase', action: 'mask' },
    ])
  })

  test('are also what the caller knows to be secret', () => {
    const known = 'correct-horse-battery-staple'
    const { guard } = gate({}, { isKnownSecret: (candidate) => candidate === known })
    for (const text of [`(${known}).`, `token=${known}`, `"${known}"`, `see ${known}!`]) {
      expect(seen(guard(text))).toBe(text.replace(known, '[redacted:known-secret]'))
    }
    expect(seen(guard(`see ${btoa(known)}`))).toBe('see [redacted:known-secret]')
    expect(seen(guard('battery-staple', 'correct-horse-'))).toBe('[redacted:known-secret]')
    expect(seen(guard(`${known}s`))).toBe(`${known}s`)
  })
})

describe('policy', () => {
  test('allows a text as it is', () => {
    const { guard } = gate({ policy: [policy('allow', '^trusted')] })
    expect(guard(`trusted ${marker}`)).toEqual({ text: `trusted ${marker}`, isWithheld: false, findings: [] })
    expect(seen(guard(marker))).toBe('‹|im_start|›')
  })

  test('has a text sanitized, reviewed or withheld', () => {
    const { guard } = gate({
      policy: [policy('sanitize', 'a{3}'), policy('review', 'b{3}'), policy('block', 'c{3}')],
    })
    expect(guard(`aaa ${marker}`)).toEqual({
      text: 'aaa ‹|im_start|›',
      isWithheld: false,
      findings: [{ rule: 'own-sanitize', action: 'sanitize' }],
    })
    expect(guard(`bbb ${marker}`)).toEqual({
      text: 'bbb ‹|im_start|›',
      isWithheld: false,
      findings: [{ rule: 'own-review', action: 'review' }],
    })
    expect(guard('ccc')).toEqual({ ...withheld, findings: [{ rule: 'own-block', action: 'block' }] })
  })

  test('decides by the first rule that matches', () => {
    const rules = [policy('review', 'deploy'), policy('block', 'deploy to production')]
    expect(gate({ policy: rules }).guard('deploy to production').isWithheld).toBe(false)
    expect(gate({ policy: rules.toReversed() }).guard('deploy to production').isWithheld).toBe(true)
  })

  test('is not escaped by what is invisible, or looks different', () => {
    const { guard } = gate({ policy: [policy('block', '(?i)project x')] })
    for (const text of ['proj\u200bect x', 'ｐｒｏｊｅｃｔ x', 'pro\u0301ject x']) {
      expect(guard(text).isWithheld).toBe(true)
    }
  })
})

describe('length', () => {
  test('is limited, in characters, the last of them an ellipsis', () => {
    expect(seen(gate({ maxLength: 10 }).guard('0123456789'))).toBe('0123456789')
    expect(seen(gate({ maxLength: 10 }).guard('0123456789a'))).toBe('012345678…')
    expect(seen(gate({ maxLength: 1 }).guard('ab'))).toBe('…')
  })

  test('cuts no character and no mark in half', () => {
    expect(seen(gate({ maxLength: 10 }).guard('12345678😀😀'))).toBe('12345678…')
    for (let maxLength = 1; maxLength < 40; maxLength++) {
      const text = seen(gate({ maxLength }).guard(`see ${token} and so on and on`))
      expect(text.length).toBeLessThanOrEqual(maxLength)
      expect(text.replace('[redacted:own-token]', '')).not.toContain('[')
    }
  })
})

verifies('I07', 'leaks, policy, injections and length are seen to in this order', () => {
  // Policy rules get the text with secrets masked.
  const judged = gate({ policy: [policy('review', 'redacted:own-token'), policy('block', 'Zk_')] })
  expect(judged.guard(`see ${token}`).findings).toEqual([
    { rule: 'own-token', action: 'mask' },
    { rule: 'own-review', action: 'review' },
  ])
  // A secret that withholds the text comes first: the policy, which would allow it, is not asked.
  expect(gate({ policy: [policy('allow', '.')] }).guard('zx-123456789012').isWithheld).toBe(true)
  // Policy rules get the text before markers are sanitized.
  expect(gate({ policy: [policy('block', 'im_start\\|>')] }).guard(marker).isWithheld).toBe(true)
  // Masking and sanitizing come before cutting, so neither a secret nor a marker crosses the cut.
  const cut = gate({ maxLength: 24 })
  expect(seen(cut.guard(`0123456789012345678 ${token}`))).toBe('0123456789012345678 …')
  expect(seen(cut.guard(`01234567890123456789${marker}`))).toBe('01234567890123456789‹|i…')
})

describe('a stage that fails', () => {
  const error = new Error('no')
  const broken = (failed?: (error: unknown) => void) =>
    gate(
      {},
      {
        isKnownSecret() {
          throw error
        },
        ...(failed && { failed }),
      },
    )

  test('withholds the text, and tells', () => {
    const failed = vi.fn()
    expect(broken(failed).guard('something that is long enough-to-be-a-token')).toEqual({
      ...withheld,
      findings: [],
    })
    expect(failed.mock.calls).toEqual([[error]])
  })

  test('harms nobody, whether it can be told or not', () => {
    const deaf = () => {
      throw new Error('deaf')
    }
    for (const safety of [broken(), broken(deaf)]) {
      expect(safety.guard('something that is long enough-to-be-a-token').isWithheld).toBe(true)
      expect(seen(safety.guard('short'))).toBe('short')
    }
  })
})

test("what can't be seen at all is no failure", () => {
  const failed = vi.fn()
  expect(seen(gate({}, { failed }).guard('\u200b', '\u200b\u200b'))).toBe('')
  expect(failed).not.toHaveBeenCalled()
})

test('rules of other settings have no say', () => {
  expect(seen(gate({ rules: ownRules.slice(1) }).guard(token))).toBe(token)
})
