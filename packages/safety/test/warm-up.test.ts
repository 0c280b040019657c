import { compileSafety, defaultSafety, warmUp } from '@meup/safety'
import { expect, test, vi } from 'vitest'

test('warming up goes in steps, and changes nothing of what is guarded', () => {
  const gate = compileSafety(defaultSafety)
  const texts = ['password=hunter2-and-more', 'ghp_0123456789abcdefghijABCDEFGHIJ456789', 'all is well']
  const guarded = () => texts.map((text) => gate.guard(text))
  const before = guarded()
  expect(before.map(({ findings }) => findings.length)).toEqual([1, 1, 0])
  expect([...warmUp(gate)].length).toBeGreaterThan(100)
  expect(guarded()).toEqual(before)
})

test('a text between two steps is guarded by all rules, and each of them is compiled once', async () => {
  vi.resetModules()
  const { detectorsOf, compileBuiltIns } = await import('../src/leak/detectors.js')
  const detectors = detectorsOf(defaultSafety)
  const steps = compileBuiltIns()
  steps.next()
  const { length } = detectors()
  for (const _ of steps);
  expect(length).toBeGreaterThan(200)
  expect(detectors()).toHaveLength(length)
})
