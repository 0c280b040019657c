import { SafetyError } from './error.js'
import type { SafetySettings, SecretRule } from './settings.js'

const wellFormed = /^[a-z0-9-]{1,64}$/

/** Throws SafetyError for what of settings can't be used, patterns aside. `taken` are names that stand for others. */
export function checkSettings({ maxLength, rules, policy }: SafetySettings, taken: Iterable<string>): void {
  if (!Number.isInteger(maxLength) || maxLength < 1) {
    throw new SafetyError('/maxLength', 'is not a whole number above 0')
  }
  const names = new Set(taken)
  const check = (name: string, path: string): void => {
    if (!wellFormed.test(name)) {
      throw new SafetyError(path, 'is not made of 1 to 64 lower-case letters, digits and hyphens')
    }
    if (names.has(name)) throw new SafetyError(path, `is taken by another rule: ${name}`)
    names.add(name)
  }
  rules.forEach(({ name, keywords }, index) => {
    check(name, `/rules/${index}/name`)
    checkKeywords(keywords, `/rules/${index}/keywords`)
  })
  policy.forEach(({ name }, index) => {
    check(name, `/policy/${index}/name`)
  })
}

function checkKeywords(keywords: SecretRule['keywords'], path: string): void {
  if (keywords?.length === 0) {
    throw new SafetyError(path, 'is empty, so the rule would never run; leave it out, or name some')
  }
  keywords?.forEach((keyword, index) => {
    const at = `${path}/${index}`
    if (keyword === '') throw new SafetyError(at, 'is empty, so it would be everywhere')
    if (keyword !== keyword.toLowerCase())
      throw new SafetyError(at, 'is not in lower case, as keywords must be')
  })
}
