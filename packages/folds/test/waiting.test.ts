import type { Envelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { ContextStates, WaitingChats } from '../src/index.js'
import { cancel, chat, conclusion, type Fields, start, toLog } from './support/log.js'

/** The seqs of the messages that wait for each agent after these envelopes. */
function waiting(all: readonly Fields[], frontDesk?: string): Record<string, number[]> {
  const states = new ContextStates()
  const chats = new WaitingChats()
  for (const envelope of toLog(all) as Envelope[]) {
    states.apply(envelope)
    chats.apply(envelope)
  }
  const byAgent: Record<string, number[]> = {}
  for (const { id, agent } of chats.list(states.open(), frontDesk))
    byAgent[agent] = [...(byAgent[agent] ?? []), Number(id.slice(1))]
  return byAgent
}

const about = (id: string) => ({ correlationId: id })
const busy = [chat('ana', 'one'), start('bot', 'thinking', about('e1'))]
const second = [...busy, chat('ana', 'two')]

test('a message waits for an agent at work, and none for an idle one', () => {
  expect(waiting([chat('ana', 'one')])).toEqual({})
  expect(waiting(busy)).toEqual({})
  expect(waiting(second)).toEqual({ bot: [3] })
})

test('a message that came before the run about an earlier one began waits as well', () => {
  const all = [chat('ana', 'one'), chat('ana', 'two'), start('bot', 'thinking', about('e1'))]
  expect(waiting(all)).toEqual({ bot: [2] })
})

test('it waits for those whom it asks', () => {
  const two = [...busy, start('aide', 'thinking', about('e1'))]
  expect(waiting([...two, chat('ana', 'all')])).toEqual({ bot: [4], aide: [4] })
  expect(waiting([...two, chat('ana', 'desk')], 'aide')).toEqual({ aide: [4] })
  expect(waiting([...two, chat('ana', 'one', { to: ['bot'] })])).toEqual({ bot: [4] })
  expect(waiting([...two, chat('ana', 'named', { payload: { mentions: ['aide'] } })])).toEqual({ aide: [4] })
  expect(waiting([...two, chat('bot', 'progress')])).toEqual({ aide: [4] })
})

test.each([
  ['a run about it', start('bot', 'next', about('e3'))],
  ['an answer', chat('bot', 'both', { correlationId: ['e1', 'e3'] })],
  ['its retraction', { kind: 'chat.cancel', from: 'ana', ...about('e3') }],
  ['the end of the work', conclusion('bot', 'done', { context: 'e2' })],
  ['a cancelled run', cancel('bot', 'e2')],
])('it waits no longer after %s', (_, then) => {
  expect(waiting([...second, then])).toEqual({})
})

test('it still waits while another message is worked on, but not once a later one is', () => {
  const queue = [...second, chat('ana', 'three'), conclusion('bot', 'done', { context: 'e2' })]
  expect(waiting([...queue, start('bot', 'next', about('e3'))])).toEqual({ bot: [4] })
  expect(waiting([...queue, start('bot', 'next', about('e4'))])).toEqual({})
})

test('a reply, and a message in a run, do not wait', () => {
  expect(waiting([...busy, chat('ana', 'yes', about('e2'))])).toEqual({})
  expect(waiting([...busy, chat('ana', 'here', { context: 'e2' })])).toEqual({})
})
