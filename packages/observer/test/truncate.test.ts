import { getFullSize, SpaceModel } from '@meup/observer/model'
import type { Envelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { Script } from './support.js'

const long = (count: number): string => 'words and '.repeat(count / 10)

test('of a heavy payload the page keeps the beginning of its texts, and how much there is', () => {
  const script = new Script()
  const note = (message: string): Envelope =>
    script.say({ from: 'bot', kind: 'acme.note', payload: { message } })
  note(long(16_000))
  note(`${long(20_000)}the end`)
  const [light, large] = script.read().log.envelopes
  expect(light).toBe(script.envelopes[0])
  expect(getFullSize(light ?? note(''))).toBeUndefined()
  expect(JSON.stringify(large).length).toBeLessThan(3000)
  expect(large?.payload.message).toMatch(/^words and words .*…$/)
  expect(getFullSize(large ?? note(''))).toBe(JSON.stringify(script.envelopes[1]).length)
})

test('what is said and thought is whole, however long it is', () => {
  const script = new Script()
  script.chat('bot', long(250_000))
  const run = script.start('bot', long(20_000))
  script.thought('bot', run.id, long(20_000))
  script.conclude('bot', run.id, long(20_000))
  expect(script.read().log.envelopes).toEqual(script.envelopes)
})

test('a heavy result says how much all of it is', () => {
  const script = new Script()
  const run = script.start('bot', 'Looking')
  script.answer(script.call('bot', run.id, 'read'), long(1_000_000))
  const model = script.read()
  model.chooseAll('all')
  const call = model.lists.stream.rows.find(({ type }) => type === 'call')
  expect(call).toMatchObject({ result: { outcome: 'success', size: { unit: 'bytes' } } })
  expect(call?.type === 'call' && (call.result?.size?.count ?? 0)).toBeGreaterThan(1_000_000)
})

test('many small parts are heavy together', () => {
  const script = new Script()
  const payload = { list: Array.from({ length: 100_000 }, (_, index) => [index]) }
  script.say({ from: 'bot', kind: 'weather.report', payload })
  const [envelope] = script.read().log.envelopes
  expect(JSON.stringify(envelope).length).toBeLessThan(100_000)
})

test('nothing is cut that somebody decides about, or that says who may do what', () => {
  const script = new Script()
  const run = script.start('bot', 'Looking')
  script.propose('bot', run.id, 'release', {
    params: { name: 'release', arguments: { notes: long(50_000) } },
  })
  script.say({
    from: 'ana',
    kind: 'capability.grant',
    payload: { recipient: 'bot', capabilities: Array.from({ length: 5000 }, (_, index) => `tool.${index}`) },
  })
  expect(script.read().log.envelopes).toEqual(script.envelopes)
})

test('a heavy envelope is the same when history is loaded', () => {
  const script = new Script()
  for (let count = 0; count < 4; count++)
    script.say({ from: 'bot', kind: 'acme.note', payload: { message: long(20_000) } })
  const model = new SpaceModel()
  model.append(script.envelopes.slice(2), 0)
  model.merge(script.envelopes.slice(0, 2))
  expect(model.log.envelopes.map((each) => getFullSize(each))).toEqual(
    script.envelopes.map((each) => JSON.stringify(each).length),
  )
})
