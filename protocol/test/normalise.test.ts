import { normalise, readObject } from '@meup/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.js'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

function normalised(frame: string) {
  const bytes = encode(frame)
  const object = readObject(bytes)
  if (typeof object === 'string') throw new Error(object)
  const result = normalise(object, bytes)
  if ('path' in result) throw new Error(`${result.path} ${result.message}`)
  return { ...result, text: decode(result.payload) }
}

const payload = fc
  .dictionary(fc.string({ unit: anyCharacter, maxLength: 6 }), fc.jsonValue({ stringUnit: anyCharacter }))
  .filter((object) => !JSON.stringify(object).includes('"__proto__"'))
  .map((object) => JSON.parse(JSON.stringify(object)) as Record<string, unknown>) // JSON has no -0

test('payload bytes pass unchanged, wherever the payload stands and however it is written', () => {
  fc.assert(
    fc.property(payload, fc.constantFrom('', ' ', '\t'), fc.nat(3), (object, space, place) => {
      const text = JSON.stringify(object, null, space)
      const fields = ['"kind":"acme.x"', '"id":"payload"', '"context":"é"']
      fields.splice(place, 0, `"payload" : ${text} `)
      expect(normalised(`{${fields.join(',')}}`)).toMatchObject({
        text,
        value: { payload: object, id: 'payload' },
      })
    }),
  )
})

test('what an alias stood for is what its canonical field has: bytes and value agree', () => {
  const named = payload.filter((object) => !('message' in object))
  fc.assert(
    fc.property(named, fc.string({ unit: anyCharacter }), (object, message) => {
      const aliased = normalised(JSON.stringify({ kind: 'chat', payload: { ...object, text: message } }))
      const { text: _, ...rest } = object
      const expected = JSON.parse(JSON.stringify({ ...rest, message }))
      expect(aliased.value).toEqual({ kind: 'chat', payload: expected })
      expect(JSON.parse(aliased.text)).toEqual(expected)
    }),
  )
})

test('normalising twice is normalising once', () => {
  const frame = '{"kind":"chat","correlation_id":["a"],"payload":{"n":1.0,"text":"x"}}'
  const { value, text } = normalised(frame)
  const again = normalised(
    `{"kind":"${value.kind}","correlationId":${JSON.stringify(value.correlationId)},"payload":${text}}`,
  )
  expect(again).toMatchObject({ value, text })
})

test('what is no object is left for the checks', () => {
  for (const wrong of ['null', '"text"', '["text"]', '5']) {
    expect(normalised(`{"kind":"chat","payload":${wrong}}`).text).toBe(wrong)
  }
  expect(normalised('{"kind":7,"payload":{"text":"x"}}').text).toBe('{"text":"x"}')
})
