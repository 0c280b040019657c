import { SpaceModel } from '@meup/observer/model'
import { expect, test } from 'vitest'
import { Script, welcome } from './support.js'

test('ten thousand people are listed once, and again only when something about them is different', () => {
  const ids = Array.from({ length: 10_000 }, (_, at) => `agent-${at}`)
  const model = new SpaceModel()
  model.onWelcome(welcome(ids), 0)
  const { people } = model
  expect(people).toHaveLength(10_000)
  const script = new Script()
  script.chat('agent-1', 'hello')
  model.append(script.envelopes, 0)
  expect(model.people).toBe(people)
  script.start('agent-2', 'Looking')
  model.append(script.envelopes, 0)
  expect(model.people).not.toBe(people)
  expect(model.people.find(({ id }) => id === 'agent-2')).toMatchObject({ load: 1 })
})

test('what somebody says of itself, has thought, and was not shown, is counted', () => {
  const script = new Script()
  const run = script.start('bot', 'Looking')
  script.thought('bot', run.id, 'one')
  script.thought('bot', run.id, '', { metadata: { withheld: true } })
  script.say({ from: 'bot', kind: 'participant.status', payload: { tokens: 1 } })
  script.say({ from: 'bot', kind: 'participant.status', payload: { tokens: 2, maxTokens: 4 } })
  const { members } = script.read()
  expect(members.countThoughts('bot')).toBe(2)
  expect(members.countThoughts('eve')).toBe(0)
  expect(members.withheld).toBe(1)
  expect(members.getStatus('bot')).toEqual({ tokens: 2, maxTokens: 4 })
})

test('a gateway whose clock was set is believed after a while', () => {
  const script = new Script()
  const model = new SpaceModel()
  script.chat('ana', 'from the future', { ts: '2099-01-01T00:00:00.000Z' })
  for (let count = 0; count < 40; count++) script.chat('ana', `message ${count}`)
  model.append(script.envelopes.slice(0, 1), 0)
  expect(model.gatewayTime(0)).toBe(Date.UTC(2099, 0))
  model.append(script.envelopes, 0)
  expect(model.gatewayTime(0)).toBe(Date.parse(script.envelopes.at(-1)?.ts ?? ''))
})
