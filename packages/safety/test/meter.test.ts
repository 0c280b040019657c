import { compileSafety, defaultSafety } from '@meup/safety'
import { describe, expect, test } from 'vitest'

const safety = compileSafety(defaultSafety)
const key = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
const texts = [
  'The change is small, and the test report decides. '.repeat(100),
  `token: ${key} `.repeat(100),
  Buffer.from(`token: ${key} `.repeat(100)).toString('base64'),
]

/** A meter that throws once the limit is exceeded, always the same error. */
function metered(limit: number) {
  const error = new Error('nothing is left')
  const meter = {
    spent: 0,
    charge(units: number) {
      this.spent += units
      if (this.spent > limit) throw error
    },
  }
  return { meter, error }
}

describe('a meter', () => {
  test.for(texts)('changes nothing of what is found, and counts the same each time: %.20s', (text) => {
    const [one, other] = [metered(Number.POSITIVE_INFINITY).meter, metered(Number.POSITIVE_INFINITY).meter]
    expect(safety.guard(text, '', one)).toEqual(safety.guard(text))
    safety.guard(text, '', other)
    expect(other.spent).toBe(one.spent)
    expect(one.spent).toBeGreaterThan(0)
  })

  test.for(texts)('that runs out stops the scan, and that is no failure: %.20s', (text) => {
    const failures: unknown[] = []
    const guarded = compileSafety(defaultSafety, { failed: (error) => failures.push(error) })
    const { meter, error } = metered(10)
    expect(() => guarded.guard(text, '', meter)).toThrow(error)
    expect(failures).toEqual([])
  })
})
