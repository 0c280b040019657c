import { fillIn } from '@meup/protocol/error-texts'
import { expect, test } from 'vitest'
import { describeErrorTexts } from '../../../test/support/error-texts.js'
import { forbidden, refuse } from '../src/core/refusal.js'
import { texts } from '../src/core/refusal-texts.js'
import { gapError, LogError, logTexts } from '../src/log/error.js'

const folder = 'packages/gateway/src'

describeErrorTexts({ name: 'logTexts', folder, texts: logTexts })
describeErrorTexts({
  name: 'texts',
  folder,
  texts,
  short: [
    ...[
      'invalidField',
      'invalidPattern',
      'invalidErasure',
      'invalidEventId',
      'invalidParameter',
      'otherThread',
    ],
    ...['erasedAlready', 'inerasable'],
  ],
})

test('a refusal has the code, the values in its message, and its path', () => {
  expect(refuse('duplicate_id', texts.takenId, { id: '{id}' }, { path: '/id' })).toEqual({
    code: 'duplicate_id',
    message: '{id} is the id of another envelope. Use a fresh id.',
    path: '/id',
  })
  expect(refuse('unavailable', texts.stopping)).toEqual({
    code: 'unavailable',
    message: 'The gateway is stopping. Try again later.',
  })
  expect(forbidden(texts.ownGrant, { from: 'ana' })).toEqual({
    code: 'forbidden',
    message: 'ana cannot grant itself capabilities. Ask another participant.',
  })
})

test('an error of a log has the code, and the values in its message', () => {
  const cause = new Error('no disk')
  expect(gapError(4, 6)).toMatchObject({
    name: 'LogError',
    code: 'gap',
    details: { expected: 4, got: 6 },
    message:
      'The next seq of this log is 4, but the batch has 6. Read the log from its head and append again from there.',
  })
  expect(new LogError('corrupt', logTexts.damagedRow, { seq: 4 }, { cause })).toMatchObject({ cause })
})

test('values are not searched for other values, nor braces without a value filled in', () => {
  expect(fillIn('{a} and {b}', { a: '{b}', b: ['$&', 1] as never })).toBe('{b} and $&, 1')
  expect(fillIn('it said {constructor}' as string, {})).toBe('it said {constructor}')
})
