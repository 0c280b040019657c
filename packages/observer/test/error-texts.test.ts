import { ProtocolError } from '@meup/agent-sdk/watch'
import { expect, test } from 'vitest'
import { disconnectedError, explainError } from '../src/connect/errors.js'

test.for([
  [disconnectedError(), 'there is no connection. Check the address, and that the gateway runs.'],
  [
    new ProtocolError('unauthorized', 'no'),
    'The gateway does not take this token here. Check it, and the name of the space.',
  ],
  [new ProtocolError('forbidden', 'not here'), 'not here'],
  [undefined, 'the connection was closed'],
] as const)('%s is explained', ([error, text]) => {
  expect(explainError(error)).toBe(text)
})
