import {
  checkEnvelope,
  checkPayload,
  checkSubmission,
  correlations,
  type Envelope,
  GATEWAY,
  Kind,
  PROTOCOL,
} from '@meup/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { delivered } from './flows.js'

const [envelope] = delivered([{ kind: Kind.chat, from: 'ana', payload: { message: 'hi' } }])

describe('checkEnvelope', () => {
  test('takes what a gateway delivers', () => {
    expect(checkEnvelope(envelope)).toBeUndefined()
    expect(checkEnvelope({ ...envelope, from: GATEWAY, kind: Kind.systemError })).toBeUndefined()
    const { seq: _, ...unlogged } = envelope as Envelope
    expect(checkEnvelope(unlogged)).toBeUndefined()
  })

  test.for(['protocol', 'id', 'ts', 'from', 'kind', 'payload'])('needs %s', (field) => {
    const { [field]: _, ...rest } = envelope as unknown as Record<string, unknown>
    expect(checkEnvelope(rest)).toEqual({ path: `/${field}`, message: 'is required' })
  })

  test.for<[string, Partial<Record<keyof Envelope | 'extra', unknown>>]>([
    ['/protocol', { protocol: 'meup/v0.2' }],
    ['/id', { id: 'a b' }],
    ['/seq', { seq: 0 }],
    ['/seq', { seq: 1.5 }],
    ['/ts', { ts: 'now' }],
    ['/from', { from: 'system:other' }],
    ['/to', { to: [] }],
    ['/to/0', { to: ['no id'] }],
    ['/kind', { kind: 'reasoning/start' }],
    ['/correlationId', { correlationId: [] }],
    ['/rationale', { rationale: 1 }],
    ['/parallelGroup', { parallelGroup: -1 }],
    ['/payload', { payload: [] }],
    ['/extra', { extra: 1 }],
  ])('refuses %s', ([path, fields]) => {
    expect(checkEnvelope({ ...envelope, ...fields })?.path).toBe(path)
  })
})

describe('checkSubmission', () => {
  test('whatever it is given, it answers and does not throw', () => {
    const field = fc.constantFrom(
      'kind',
      'id',
      'to',
      'correlationId',
      'context',
      'payload',
      'parallelGroup',
      'x',
    )
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.dictionary(field, fc.jsonValue())), (value) => {
        const problem = checkSubmission(value)
        if (problem !== undefined)
          expect(problem).toEqual({ path: expect.any(String), message: expect.any(String) })
      }),
    )
  })

  test.for<[object, string]>([
    [{}, 'is required'],
    [{ kind: 'chat', more: 1 }, 'is not a known field'],
    [{ kind: 5 }, 'must be string'],
    [{ kind: 'chat', protocol: 'x' }, `must be "${PROTOCOL}"`],
    [{ kind: 'chat', correlationId: 5 }, 'must be string or array'],
    [{ kind: 'chat', correlationId: [] }, 'must NOT have fewer than 1 items'],
  ])('says what is wrong: %j', ([value, message]) => {
    expect(checkSubmission(value)?.message).toBe(message)
  })
})

describe('checkPayload', () => {
  test('says which values there are', () => {
    expect(checkPayload(Kind.chat, { message: 'hi', format: 'html' })).toEqual({
      path: '/payload/format',
      message: 'must be "plain" or "markdown"',
    })
  })

  test('points into what it is about, with JSON pointers', () => {
    const grant = (capability: unknown) =>
      checkPayload(Kind.capabilityGrant, { recipient: 'ana', capabilities: ['chat', capability] })
    expect(grant({ to: 'ana' })).toEqual({ path: '/payload/capabilities/1/kind', message: 'is required' })
    expect(grant(5)).toEqual({ path: '/payload/capabilities/1', message: 'must be string or object' })
    expect(checkPayload(Kind.observeSubscribe, { 'a/b~c': 1 })?.path).toBe('/payload/a~1b~0c')
  })
})

test('correlations are a list, however they were sent', () => {
  expect(correlations({})).toEqual([])
  expect(correlations({ correlationId: 'a' })).toEqual(['a'])
  expect(correlations({ correlationId: ['a', 'b'] })).toEqual(['a', 'b'])
})
