import { expect, test } from 'vitest'
import { GuardedEmitter } from '../src/client/guarded-emitter.js'

interface Events {
  said: [text: string]
}

function emitter() {
  const [errors, heard]: [unknown[], string[]] = [[], []]
  const events = new GuardedEmitter<Events>((error, event) => errors.push([event, String(error)]))
  return { events, errors, heard, hear: (text: string) => void heard.push(text) }
}

test('an error of a listener keeps neither the others nor the emitter from going on', () => {
  const { events, errors, heard, hear } = emitter()
  events.on('said', () => {
    throw new Error('no')
  })
  events.on('said', hear)
  expect(events.emit('said', 'one')).toBe(true)
  expect([heard, errors]).toEqual([['one'], [['said', 'Error: no']]])
})

test('an error of the promise of a listener is reported', async () => {
  const { events, errors } = emitter()
  events.on('said', async () => {
    throw new Error('later')
  })
  events.emit('said', 'one')
  await expect.poll(() => errors).toEqual([['said', 'Error: later']])
})

test('a listener for one time is called once, also where it throws, and others of the event stay', () => {
  const { events, errors, heard, hear } = emitter()
  events.once('said', () => {
    throw new Error('once')
  })
  events.once('said', hear)
  events.on('said', hear)
  events.emit('said', 'one')
  events.emit('said', 'two')
  expect([heard, errors]).toEqual([['one', 'one', 'two'], [['said', 'Error: once']]])
})

test('a listener that is removed is not called', () => {
  const { events, heard, hear } = emitter()
  events.once('said', hear)
  events.on('said', hear)
  events.off('said', hear)
  expect([events.emit('said', 'one'), heard]).toEqual([false, []])
})
