import fc from 'fast-check'
import { RE2JS } from 're2js'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../../test/support/any-character.js'
import { times } from '../../../test/support/soak.js'
import { verifies } from '../../../test/verifies.js'
import { disguises, gate, long, ownRules, seen, token } from './support.js'

const secrets = [
  token,
  long,
  'phrase: hunter22',
  'phrase: <yours>',
  'zdb://ana:hunter22@db',
  'phrase=',
  'zl-',
]
const markers = ['<|im_start|>', '[INST]', '\n\nHuman:', '<system x>', '</s>', '<system ']
const bits = [
  '[redacted:own-token]',
  '[redacted:',
  ']',
  '"',
  ' ',
  '\n',
  '%',
  '=',
  ': ',
  '…',
  '\u200b',
  '😀',
  'a',
  'B7',
]
const piece = fc.oneof(
  fc.constantFrom(...secrets, ...markers, ...bits),
  fc.tuple(fc.constantFrom(...secrets), fc.constantFrom(...Object.values(disguises))).map(([s, d]) => d(s)),
  fc.string({ unit: anyCharacter, maxLength: 8 }),
)
const anyText = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
const maxLength = fc.constantFrom(8192, 60, 25, 7)
const policies = fc.subarray([
  { name: 'own-allow', pattern: 'B7', action: 'allow' },
  { name: 'own-review', pattern: 'own-token', action: 'review' },
  { name: 'own-withhold', pattern: '‹|…', action: 'block' },
] as const)

verifies('I08', 'what was guarded once stays as it is: nothing is escaped or masked twice', () => {
  const gates = new Map<string, ReturnType<typeof gate>>()
  fc.assert(
    fc.property(anyText, anyText, maxLength, policies, (text, before, maxLength, policy) => {
      const key = JSON.stringify([maxLength, policy])
      const safety = gates.get(key) ?? gate({ maxLength, policy })
      gates.set(key, safety)
      const once = safety.guard(text, before)
      expect(safety.guard(once.text)).toEqual({
        text: once.text,
        isWithheld: false,
        findings: expect.anything(),
      })
      expect(once.text.length).toBeLessThanOrEqual(maxLength)
    }),
    { numRuns: times(250, 100_000) },
  )
})

test('no text makes a stage fail', () => {
  const errors: unknown[] = []
  const { guard } = gate({}, { failed: (error) => errors.push(error) })
  fc.assert(
    fc.property(anyText, anyText, (text, before) => {
      guard(text, before)
      expect(errors).toEqual([])
    }),
    { numRuns: times(250, 100_000) },
  )
})

test('what is said in plain words is masked just where its pattern matches, in texts of any length', () => {
  const words = fc.constantFrom(
    'so',
    'it',
    'goes.',
    'on',
    'Zk_',
    'zl-',
    'phrase',
    token,
    long,
    'xZk_',
    `${token}a`,
  )
  const { guard } = gate()
  const patterns = ownRules
    .slice(0, 2)
    .map(({ name, pattern }) => ({ name, pattern: RE2JS.compile(pattern) }))
  fc.assert(
    fc.property(fc.array(words, { minLength: 1, maxLength: 600, size: 'max' }), (list) => {
      const text = list.join(' ')
      const expected = patterns.reduce(
        (seen, { name, pattern }) => pattern.matcher(seen).replaceAll(`[redacted:${name}]`),
        text,
      )
      expect(seen(guard(text))).toBe(expected)
    }),
    { numRuns: times(50, 2000) },
  )
})
