import { expect, test } from 'vitest'
import { freshId } from '../src/fresh-id.js'
import { isEnvelopeId } from '../src/names.js'

test('ids are ids, none twice, and sorted by their bytes they are in the order of their times', () => {
  const times = [0, 1, 63, 64, 4095, 1_795_400_000_000, 1_795_400_000_001, 1_795_400_000_064, 2 ** 42 - 1]
  const ids = times.map((time) => freshId(time))
  expect(ids.every(isEnvelopeId)).toBe(true)
  expect([...ids].sort()).toEqual(ids)
  expect(new Set(Array.from({ length: 1000 }, () => freshId(0))).size).toBe(1000)
})
