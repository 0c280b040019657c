import { closeCodes, ErrorPayload, errorCodes, errorHints, errors, ProtocolError } from '@meup/protocol'
import { expect, test } from 'vitest'

test('every code has an HTTP status of its kind, a meaning and a hint of its own', () => {
  for (const code of errorCodes) {
    const { status, meaning } = errors[code]
    expect(status, code).toBeGreaterThanOrEqual(400)
    expect(status, code).toBeLessThan(600)
    expect(meaning, code).not.toBe('')
    expect(errorHints[code], code).not.toBe('')
  }
  const meanings = errorCodes.map((code) => errors[code].meaning)
  expect(meanings).toEqual([...new Set(meanings)])
})

test('the payload of an error takes these codes and no others', () => {
  expect(ErrorPayload.properties.code.anyOf.map((each) => each.const)).toEqual(errorCodes)
})

test('an error carries its code, its hint and what it is about', () => {
  const error = new ProtocolError('rate_limited', 'too fast', { retryAfterMs: 20 })
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({
    name: 'ProtocolError',
    code: 'rate_limited',
    message: 'too fast',
    details: { retryAfterMs: 20 },
    hint: errorHints.rate_limited,
    retryable: true,
  })
})

test('only what passes by itself is worth another try', () => {
  expect(errorCodes.filter((code) => new ProtocolError(code, '').retryable)).toEqual([
    'rate_limited',
    'participant_paused',
    'unavailable',
    'internal',
  ])
})

test('close codes are those of WebSocket, or private ones that follow the HTTP statuses', () => {
  const codes = Object.values(closeCodes)
  expect(codes).toEqual([...new Set(codes)])
  expect(codes.filter((code) => code < 4400 || code > 4499)).toEqual([1001, 1009])
})
