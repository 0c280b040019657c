import { compileSafety, defaultSafety } from '@meup/safety'
import { expect, test } from 'vitest'
import { messagesOf } from '../../bench/load/template.js'
import { textKinds, textsOf } from '../../bench/load/texts.js'

const kind = 'reasoning.thought'

test.for([300, 2048])('messages of %i bytes differ, fit and are the same in each run', (size) => {
  for (const texts of textKinds) {
    const messages = messagesOf(0, size, { kind, context: 'run-0-123456789abc', texts })
    expect(new Set(messages).size).toBe(messages.length)
    expect(messages.length).toBeGreaterThan(texts === 'cut' ? 20 : 400)
    expect(Math.max(...messages.map((each) => Buffer.byteLength(each)))).toBeLessThanOrEqual(size)
    expect(messagesOf(0, size, { kind, context: 'run-0-123456789abc', texts })).toEqual(messages)
  }
})

test('a number stands in the id of a message alone', () => {
  const [message = '{}'] = messagesOf(0, 300, { kind, texts: 'cut' })
  expect(JSON.parse(message)).toMatchObject({
    id: expect.stringContaining('#'),
    payload: { message: expect.stringMatching(/^the report says/) },
  })
})

test('prose has neither code nor numbers, technical prose one of them, and the mixture a tenth of JSON', () => {
  expect(textsOf('prose', 110).filter((text) => /[`\d{}<>]/.test(text))).toEqual([])
  expect(textsOf('technical', 110).filter((text) => !/[`\d_/{}<>=]/.test(text))).toEqual([])
  const mixture = textsOf('mixture', 110)
  expect(mixture.filter((text) => /^[[{]/.test(text)).length).toBeGreaterThanOrEqual(mixture.length / 10)
})

test('there is nothing in a text that the safety gate would change', () => {
  const { guard } = compileSafety(defaultSafety)
  const changed = textKinds.flatMap((texts) =>
    [110, 1850].flatMap((bytes) => textsOf(texts, bytes).filter((text) => guard(text).text !== text)),
  )
  expect(changed).toEqual([])
})

test('a text for which there is no room is refused', () => {
  expect(() => textsOf('prose', 10)).toThrow('no prose fits into 10 bytes')
  expect(() => messagesOf(0, 100, { kind, texts: 'cut' })).toThrow('not 100')
})
