import { readdirSync, readFileSync } from 'node:fs'
import { builtInRules, compileSafety, defaultSafety } from '@meup/safety'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BuiltInRule, createDetector } from '../src/leak/built-in-rule.js'
import { compileKeywords } from '../src/leak/finder.js'

/**
 * A rule as in its file. In `positives`, one character of each secret is written as `\u….`, so that scanners do not find
 * secrets in the files; the parsed text is complete.
 */
interface RuleData extends BuiltInRule {
  readonly positives: readonly string[]
  readonly negatives: readonly string[]
}

const folder = new URL('../src/rules/', import.meta.url)
const files = readdirSync(folder).map((name) => {
  const text = readFileSync(new URL(name, folder), 'utf8')
  return { name, text, rules: JSON.parse(text) as RuleData[] }
})
const rules = files.flatMap((file) => file.rules)

/** Returns the part of a text that this rule alone hides; `undefined` = none. */
function hiddenBy(rule: RuleData, text: string): string | undefined {
  const words = compileKeywords([{ words: rule.keywords }])(text)
  const [secret] = createDetector(rule).find(text, words, { isWanted: () => true, from: 0, isCut: false })
  return secret && text.slice(secret.start, secret.end)
}

test('the rules of all files are built in', () => {
  const names = (list: readonly BuiltInRule[]): string[] => list.map(({ name }) => name).sort()
  expect(names(builtInRules)).toEqual(names(rules))
})

test('there are enough rules, each with a name of its own', () => {
  expect(rules.length).toBeGreaterThan(200)
  expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length)
})

describe.each(files)('$name', ({ text, rules: own }) => {
  const safety = compileSafety(defaultSafety)

  test.each(own)('$name: has the fields of a rule', ({ positives, negatives, ...rule }) => {
    expect(rule.name).toMatch(/^[a-z0-9-]{3,40}$/)
    expect(['mask', 'block']).toContain(rule.action)
    expect(Object.keys(rule).filter((key) => !ruleFields.has(key))).toEqual([])
    expect(rule.keywords).not.toEqual([])
    for (const keyword of rule.keywords) expect(keyword).toBe(keyword.toLowerCase())
    expect(positives.length).toBeGreaterThan(1)
    expect(negatives.length).toBeGreaterThan(1)
  })

  test.each(own)('$name: finds what it stands for', (rule) => {
    for (const positive of rule.positives) {
      const secret = hiddenBy(rule, positive)
      expect(secret?.length, positive).toBeGreaterThan(4)
      const guarded = safety.guard(positive)
      expect(guarded.text, positive).not.toContain(secret)
      expect(guarded.isWithheld, positive).toBe(guarded.findings.some(({ action }) => action === 'block'))
      expect(guarded.findings, positive).not.toEqual([])
    }
  })

  test.each(own)('$name: leaves what only looks like it', (rule) => {
    for (const negative of rule.negatives) {
      expect(hiddenBy(rule, negative), negative).toBeUndefined()
      // Other rules must not match the text either.
      expect(safety.guard(negative)).toEqual({ text: negative, isWithheld: false, findings: [] })
    }
  })

  test('holds no example that a scanner would stop at', () => {
    for (const rule of rules) {
      if (rule.looks === undefined) expect(hiddenBy(rule, text), rule.name).toBeUndefined()
    }
  })
})

test('what is generated from the rules holds no example that a scanner would stop at', () => {
  const text = readFileSync(new URL('../src/leak/generated/rules.ts', import.meta.url), 'utf8')
  const received = new Set(rules.filter(({ looks }) => looks === undefined).map(({ name }) => name))
  const { guard } = compileSafety({ ...defaultSafety, maxLength: text.length })
  expect(guard(text).findings.filter(({ rule }) => received.has(rule))).toEqual([])
})

const ruleFields = new Set(['name', 'pattern', 'flags', 'looks', 'keywords', 'action'])

describe('random secrets behind a label', () => {
  const { guard } = compileSafety(defaultSafety)
  const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
  const from = (alphabet: string, length: number): fc.Arbitrary<string> =>
    fc
      .array(fc.constantFrom(...alphabet), { minLength: length, maxLength: length })
      .map((characters) => characters.join(''))
      .filter((value) => /^[A-Za-z].*\d.*[A-Za-z]/.test(value))

  const passwords = [
    from(`${letters}0123456789`, 14),
    from(`${letters}0123456789!@#$%^*`, 16),
    fc
      .tuple(fc.constantFrom('winter', 'Berlin', 'coffee'), from(`${letters}0123456789`, 6))
      .map(([word, rest]) => word + rest),
  ]
  const tokens = [
    from('0123456789abcdef', 32),
    from(`${letters}0123456789`, 32),
    from(`${letters}0123456789-_`, 43),
    fc.uuid({ version: 4 }),
  ]
  /** Number of consecutive characters of a value that must not be visible. */
  const telling = 6
  const pieces = (value: string): string[] =>
    Array.from({ length: value.length - telling + 1 }, (_, at) => value.slice(at, at + telling))
  /** Returns the share of the values that are partly visible after guarding. */
  const leaked = (notation: string, values: readonly fc.Arbitrary<string>[]): number => {
    const sample = values.flatMap((value) => fc.sample(value, 50))
    const seen = sample.filter((value) => {
      const { text } = guard(notation.replace('#', () => value))
      return pieces(value).some((piece) => text.includes(piece))
    })
    return seen.length / sample.length
  }

  test.each([
    'DB_PASSWORD=#',
    'export PGPASSWORD="#"',
    '  password: #',
    "'password' => '#',",
    '{"user":"app","password":"#"}',
    'const password = `#`',
    'spring.datasource.password=#',
    'the password is #',
    'log in as root with password #',
    './tool --password #',
    'mysql -u root -p# shop',
    'curl -u admin:# https://example.net/',
    'postgres://app:#@db.example.net:5432/shop',
    'https://bot:#@git.example.net/a.git',
    "CREATE USER app IDENTIFIED BY '#'",
    'Server=db;User Id=app;Password=#;Encrypt=true',
  ])('password: %s', (notation) => {
    expect(leaked(notation, passwords)).toBeLessThan(0.05)
  })

  test.each([
    'API_KEY=#',
    'api_key: #',
    '"apiKey": "#"',
    "clientSecret: '#',",
    'JWT_SECRET=#',
    'access_token=#',
    'Authorization: Bearer #',
    'X-API-Key: #',
    'the API key is #',
    './tool --token #',
    'https://example.net/v1?page=2&api_key=#',
    'Set-Cookie: session=#; HttpOnly',
    '<clientSecret>#</clientSecret>',
  ])('token: %s', (notation) => {
    expect(leaked(notation, tokens)).toBeLessThan(0.02)
  })
})
