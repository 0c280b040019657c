import { compileSafety, defaultSafety, warmUp } from '@meup/safety'
import { expect, test } from 'vitest'

test('warming up goes in steps, and changes nothing of what is guarded', () => {
  const gate = compileSafety(defaultSafety)
  const texts = ['password=hunter2-and-more', 'ghp_0123456789abcdefghijABCDEFGHIJ456789', 'all is well']
  const guarded = () => texts.map((text) => gate.guard(text))
  const before = guarded()
  expect(before.map(({ findings }) => findings.length)).toEqual([1, 1, 0])
  expect([...warmUp(gate)].length).toBeGreaterThan(50)
  expect(guarded()).toEqual(before)
})
