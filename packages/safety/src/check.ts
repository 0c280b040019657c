import { SafetyError } from './error.js'
import type { SafetySettings } from './settings.js'

const wellFormed = /^[a-z0-9-]{1,64}$/

function expect(isSo: boolean, path: string, otherwise: string): void {
  if (!isSo) throw new SafetyError(path, otherwise)
}

/** Throws SafetyError for what of settings can't be used, patterns aside. `taken` are names that stand for others. */
export function checkSettings({ maxLength, rules, policy }: SafetySettings, taken: Iterable<string>): void {
  expect(Number.isInteger(maxLength) && maxLength >= 1, '/maxLength', 'is not a whole number above 0')
  const names = new Set(taken)
  for (const [list, all] of Object.entries({ rules, policy })) {
    for (const [index, { name }] of all.entries()) {
      const path = `/${list}/${index}/name`
      expect(wellFormed.test(name), path, 'is not made of 1 to 64 lower-case letters, digits and hyphens')
      expect(!names.has(name), path, `is taken by another rule: ${name}`)
      names.add(name)
    }
  }
  for (const [index, { keywords = ['-'] }] of rules.entries()) {
    const path = `/rules/${index}/keywords`
    expect(keywords.length > 0, path, 'is empty, so the rule would never run; leave it out, or name some')
    for (const [at, keyword] of keywords.entries()) {
      expect(keyword !== '', `${path}/${at}`, 'is empty, so it would be everywhere')
      const isLower = keyword === keyword.toLowerCase()
      expect(isLower, `${path}/${at}`, 'is not in lower case, as keywords must be')
    }
  }
}
