import { expect, test } from 'vitest'
import { restMs } from '../src/gateway/rest.js'

test('turns and steps get a tenth of the time of a busy gateway, and rest ten seconds at most', () => {
  expect([30, 500, 900, 30_000].map((workMs) => restMs(workMs, true))).toEqual([1000, 4500, 8100, 10_000])
  expect([30, 30_000].map((workMs) => restMs(workMs, false))).toEqual([1000, 1000])
})
