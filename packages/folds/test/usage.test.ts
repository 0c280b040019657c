import { readRunUsage } from '@meup/folds'
import { expect, test } from 'vitest'

const none = { input: undefined, output: undefined, cached: undefined, reasoning: undefined }

test('the usage of a run leaves out what its agent does not report, or reports wrong', () => {
  expect(readRunUsage({ tokens: { input: 7, output: 0 }, cost: 0.5, model: 'large-2' })).toEqual({
    ...{ tokens: { ...none, input: 7, output: 0 }, cost: 0.5, model: 'large-2' },
  })
  const nothing = { tokens: none, cost: undefined, model: undefined }
  for (const metadata of [undefined, 7, { tokens: { input: '7', output: -1 }, cost: Number.NaN, model: 4 }])
    expect(readRunUsage(metadata)).toEqual(nothing)
})
