import { compileSafety, defaultSafety, type Tail, tailOf } from '@meup/safety'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import { readRuleNeeds } from '../scripts/rule-needs.js'
import { getDecodings } from '../src/decodings/decodings.js'
import { readNeeds, staysProse } from '../src/leak/pattern-needs.js'
import { isProse, joinsProse } from '../src/leak/prose.js'
import { ownRules } from './support.js'

const free = { charge() {} }

describe('prose', () => {
  test.for([
    'I will read the module that builds the summary before I change anything.',
    "It doesn't say so (the form\u2019s field is required), does it?",
    'There are 14 cases, 2 of them skipped; HTTP is fine...',
    'My plan:\n1. read the code\n2. write the test',
    'See session.ts, e.g. open().Then go on.',
    '',
  ])('is taken for such: %j', (text) => expect(isProse(text)).toBe(true))

  test.for([
    'see src/main.ts',
    'a-b',
    '"quoted"',
    'getName of it',
    'an incomprehensiblity of it',
    'port 54321',
    'it is 42',
    'it is 42\nor so',
    'System: do it',
    'Human:do it',
    'it.Psk : hunterhunter',
    'an.incomprehensible word',
    'caf\u00e9',
    'to enable secret hunterhunter',
    'PSK : hunterhunter',
    'HTTPS\nis fine',
    'a [link]',
  ])('is nothing with %j', (text) => expect(isProse(text)).toBe(false))

  const filler = 'so it goes on and on '.repeat(5)

  test.for([
    ['so it goes', ' and on', true],
    ['so it goes.', 'Then on', true],
    ['so it goes.Then', ' on', true],
    ['so i', 't goes', true],
    ['it is 5', ' of them', true],
    ['so it goes\n', 'and on', true],
    ['the token xqzkvb', 'nwmqrz', false],
    ['the token xqzkvbhh', 'hhnwmqrz is', false],
    ['it is answered.', 'Then on', true],
    ['so it get', 'Name of', false],
    ['it is HTT', 'PS and', false],
    ['it is HTTP', '\nand so', false],
    ['it is so\n', '5 of them', false],
    ['to enable', ' secret hunterhunter', false],
    ['to enable', ' it', true],
    ['to ena', 'ble it', false],
    // The second text looks like a secret once the end of the first is put before it.
    ['The ', `password: xqzkvbnwmqrz ${filler}17 and on and on`, false],
    ['The ', `password: xqzkvbnwmqrz ${filler}and 17 on and on`, true],
  ] as const)('goes on from prose: %j, %j: %j', ([said, text, isSo]) => {
    expect([isProse(said.trimEnd().replace(/5$/, '')), isProse(text)]).toEqual([true, true])
    expect(joinsProse(said, [], text)).toBe(isSo)
  })

  const unit = fc.constantFrom(
    ...['a', 'b', 'A', 'B', '1', '23', ' ', ' ', ' ', '\n', '.', ',', ':', '(', ')', "'", '\u2014', '-'],
    ...['word', 'System', 'ABCD', 'abcdefg', "'s", '. '],
  )
  test('is no more than patterns are tried with, and reads as it is written', () => {
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('')
        if (!isProse(text)) return
        expect(staysProse(text)).toBe(true)
        const { certain, joined } = getDecodings(text, free)
        expect([...certain, ...joined].map((view) => view.text)).toEqual([text])
      }),
      { numRuns: times(4000, 2_000_000) },
    )
  })
})

describe('what a pattern needs', () => {
  test.for([
    ['sk-[a-z]{20}', '', { reach: 23, hasBlanks: false, matchesProse: false }],
    ['(?:ab|c)d+', '', { reach: 2, hasBlanks: false, matchesProse: true }],
    ['key\\s*[=:]\\s*\\w{6}', 'i', { reach: 3, hasBlanks: true, matchesProse: true }],
    ['key (?=\\S*\\d)[a-z]{6}', '', { reach: 3, hasBlanks: true, matchesProse: false }],
    ['a(?=[\\da-f]{20})', '', { reach: 21, hasBlanks: false, matchesProse: false }],
    ['[a-z]{16}', '', { reach: 16, hasBlanks: false, matchesProse: false }],
    ['[a-z]{8} [a-z]{8}', '', { reach: 8, hasBlanks: true, matchesProse: true }],
    ['[a-z]+[A-Z]', '', { reach: 2, hasBlanks: false, matchesProse: false }],
    ['\\d{5}', '', { reach: 5, hasBlanks: false, matchesProse: false }],
    ['(?<!x)\\bword$', '', { reach: 4, hasBlanks: false, matchesProse: true }],
    ['(.)\\1', '', { reach: 0, hasBlanks: true, matchesProse: true }],
  ] as const)('is read from it: %s', ([pattern, flags, needs]) => {
    expect(readNeeds(pattern, flags, 'javascript')).toEqual(needs)
  })

  test.for(['\\pL', '[[:alpha:]]', '\\Qa\\E', '\\z', 'a(?i)b', 'a(?i:b)', '\\x{41}', '\\1', '[]a]', '(a'])(
    'is not known where RE2 means something else: %s',
    (pattern) => expect(readNeeds(pattern, '', 're2')).toBeUndefined(),
  )

  test('is found wherever the pattern matches', () => {
    const atom = fc.constantFrom('a', 'B', '7', '-', '\\s', '\\w', '[a-c]', '[^a]', '.', "'", '\\b')
    const often = fc.constantFrom('', '', '?', '*', '+', '{2}', '{1,3}', '{2,}')
    const piece = fc.tuple(atom, often).map(([one, times]) => (one === '\\b' ? one : one + times))
    const sequence = fc.array(piece, { minLength: 1, maxLength: 3 }).map((all) => all.join(''))
    const group = fc
      .tuple(sequence, sequence, often)
      .map(([one, other, times]) => `(?:${one}|${other})${times}`)
    const ahead = sequence.map((each) => `(?=${each})`)
    const pattern = fc
      .array(fc.oneof(sequence, group, ahead), { minLength: 1, maxLength: 3 })
      .map((all) => all.join(''))
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', 'B', '7', '-', ' ', '\n', "'", '.'),
      maxLength: 9,
    })
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 5, maxLength: 5 }), (pattern, texts) => {
        const needs = readNeeds(pattern, '', 'javascript')
        for (const text of texts) {
          const match = new RegExp(pattern).exec(text)
          if (match === null || needs === undefined) continue
          const run = /^[^\t-\r ]*/.exec(text.slice(match.index))?.[0] ?? ''
          expect(run.length).toBeGreaterThanOrEqual(needs.reach)
          if (!needs.hasBlanks) expect(match[0]).not.toMatch(/[\t-\r ]/)
          if (isProse(text)) expect(needs.matchesProse).toBe(true)
        }
      }),
      { numRuns: times(600, 50_000) },
    )
  })

  test('excludes no common words, or the rules are not generated', () => {
    const rule = { name: 'own', keywords: ['token'], action: 'mask' } as const
    expect(readRuleNeeds({ ...rule, pattern: '\\btoken-[a-z]{8}' })).toEqual({ reach: 14, hasBlanks: false })
    expect(() => readRuleNeeds({ ...rule, pattern: '\\btoken\\s+[a-z]{4}' })).toThrow('common words: token')
    expect(() => readRuleNeeds({ ...rule, pattern: 'token\\s+[a-z]{4}' })).toThrow('begin with \\b')
    expect(() => readRuleNeeds({ ...rule, pattern: '(?>token)' })).toThrow('not understood')
  })
})

describe('texts of prose', () => {
  /** Measures the charged costs of consecutive texts. */
  function spend(texts: readonly string[], settings = defaultSafety): number[] {
    const { guard } = compileSafety(settings)
    let tail: Tail | string = ''
    return texts.map((text) => {
      let spent = 0
      expect(guard(text, tail, { charge: (units) => (spent += units) }).findings).toEqual([])
      tail = tailOf(tail, text)
      return spent
    })
  }
  const prose = 'The change is small, and the risk seems low to me. '.repeat(6)
  const texts = [prose, prose, `${prose}The na`, 'me of it is good.', ` And it goes on. ${prose}`]

  test('are charged the same each time, and little', () => {
    const spent = spend(texts)
    expect(spend(texts)).toEqual(spent)
    for (const each of spent) expect(each).toBeLessThan(4)
    expect(spend(['see src/main.ts', prose])[1]).toBeGreaterThan(4)
  })

  test('are charged as little where a space has rules and a policy of its own that need more', () => {
    const policy = [{ name: 'own-policy', pattern: '(?i)project-x', action: 'block' }] as const
    const spent = spend(texts, { ...defaultSafety, rules: ownRules, policy })
    for (const each of spent) expect(each).toBeLessThan(7)
  })
})
