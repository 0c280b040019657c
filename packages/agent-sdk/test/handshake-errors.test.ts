import { ConnectionError } from '@meup/agent-sdk'
import { ProtocolError } from '@meup/protocol'
import { expect, test } from 'vitest'
import { createHandshakeError, getRetryAfterMs } from '../src/client/errors.js'

const answered = (status: number, { body = '', retryAfter }: { body?: string; retryAfter?: string } = {}) =>
  createHandshakeError({ url: 'http://127.0.0.1:1', status, body, retryAfter })

test.for([
  [400, 'invalid_request'],
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not_found'],
] as const)('HTTP %i is final, whatever its body', ([status, code]) => {
  for (const body of ['', '<html>no</html>', '{"code":"of another kind"}']) {
    const error = answered(status, { body })
    expect(error).toBeInstanceOf(ProtocolError)
    expect(error).toMatchObject({ code, retryable: false })
  }
})

test.for([429, 500, 502, 503, 504])('HTTP %i is passing', (status) => {
  expect(answered(status)).toBeInstanceOf(ConnectionError)
  expect(answered(status)).toMatchObject({ code: 'unreachable', retryable: true })
})

test('the code of a problem tells more than its status', () => {
  const body = JSON.stringify({ code: 'rate_limited', detail: 'later' })
  expect(answered(429, { body, retryAfter: '3' })).toMatchObject({
    code: 'rate_limited',
    details: { retryAfterMs: 3000 },
  })
})

test('Retry-After is a number of seconds or a date, and nothing else', () => {
  const later = new Date(Date.now() + 60_000).toUTCString()
  expect(getRetryAfterMs(answered(503, { retryAfter: '2' }))).toBe(2000)
  const waitMs = getRetryAfterMs(answered(503, { retryAfter: later }))
  expect(waitMs).toBeGreaterThan(50_000)
  expect(waitMs).toBeLessThanOrEqual(60_000)
  for (const retryAfter of ['soon', '-1', '', 'Thu, 01 Jan 1970 00:00:00 GMT']) {
    expect(getRetryAfterMs(answered(503, { retryAfter }))).toBeUndefined()
  }
})
