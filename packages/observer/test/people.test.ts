import { SpaceModel } from '@meup/observer/model'
import type { Envelope } from '@meup/protocol'
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

test('who writes is shown for six seconds, or until they have said it', () => {
  const model = new SpaceModel()
  model.onWelcome(welcome(['ana', 'ben']), 0)
  const typing = (from: string): Envelope => ({
    ...{
      protocol: 'meup/v0.3',
      id: from,
      ts: '2026-01-01T00:00:00Z',
      from,
      kind: 'observe.typing',
      payload: {},
    },
  })
  model.append([typing('ana'), typing('ben')], 0)
  expect(model.typists.list(1000)).toEqual(['ana', 'ben'])
  const script = new Script()
  script.chat('ana', 'there')
  model.append(script.envelopes, 2000)
  expect(model.typists.list(2000)).toEqual(['ben'])
  expect(model.typists.list(7000)).toEqual([])
})

test('a run that was over when the page came does not go on until its end is loaded', () => {
  const script = new Script()
  const over = script.start('bot', 'over')
  const open = script.start('ana', 'open')
  const later = script.start('bot', 'later')
  const model = new SpaceModel()
  const { space, ...rest } = welcome(['ana', 'bot'])
  const contexts = [
    { context: open.id, owner: 'ana', state: 'open', reasoningVisible: true, startedAt: open.ts },
  ] as const
  model.onWelcome({ ...rest, space: { ...space, head: 2 }, contexts: [...contexts] }, 0)
  model.append(script.envelopes, 0)
  expect(model.runs().map(({ context }) => context)).toEqual([open.id, later.id])
  const { list, slots } = { list: model.lists.stream, slots: model.lists.stream.slots }
  const live = slots.flatMap((slot) => {
    const row = list.getRow(slot)
    return row.type === 'heading' ? [[row.context, row.isLive, row.state]] : []
  })
  expect(live).toEqual([
    [over.id, false, 'concluded'],
    [open.id, true, 'open'],
    [later.id, true, 'open'],
  ])
})
