import { expect, test } from 'vitest'
import { filesUnder } from '../../../test/support/files.js'
import { readText } from '../../../test/support/packages.js'
import { invalidField, refusal, texts } from '../src/errors.js'

test.for(Object.entries(texts))('%s: %s says what happened. What to do', ([code, text]) => {
  expect(text).toMatch(/^[A-Z{][^;]{1,190}\.$/)
  expect(text).not.toMatch(/[.?] [a-z]/)
  const isUsed = (path: string): boolean => new RegExp(`'${code}',|texts\\.${code}`).test(readText(path))
  expect(filesUnder('packages/ag-ui/src').filter(isUsed)).not.toEqual([])
})

test.for([
  [invalidField('/runId', 'a text'), { code: 'invalid_request', path: '/runId' }],
  [refusal('not_an_input', {}), { code: 'invalid_json' }],
  [
    refusal('not_allowed', { proposal: 'p1' }, '/resume/0'),
    { code: 'capability_violation', path: '/resume/0' },
  ],
] as const)('%o', ([refused, expected]) => {
  expect(refused).toMatchObject(expected)
})
