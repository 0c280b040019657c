import { expect, test } from 'vitest'
import { filesUnder } from '../../../test/support/files.js'
import { readText } from '../../../test/support/packages.js'
import { createRefusal, invalidField, runTexts } from '../src/errors.js'

test.for(Object.entries(runTexts))('%s: %s says what happened. What to do', ([code, text]) => {
  expect(text).toMatch(/^[A-Z{][^;]{1,190}\.$/)
  expect(text).not.toMatch(/[.?] [a-z]/)
  const isUsed = (path: string): boolean => new RegExp(`'${code}',|runTexts\\.${code}`).test(readText(path))
  expect(filesUnder('packages/ag-ui/src').filter(isUsed)).not.toEqual([])
})

test.for([
  [invalidField('/runId', 'a text'), { code: 'invalid_request', path: '/runId' }],
  [createRefusal('not_an_input', {}), { code: 'invalid_json' }],
  [
    createRefusal('not_allowed', { proposal: 'p1' }, '/resume/0'),
    { code: 'capability_violation', path: '/resume/0' },
  ],
] as const)('%o', ([refused, expected]) => {
  expect(refused).toMatchObject(expected)
})
