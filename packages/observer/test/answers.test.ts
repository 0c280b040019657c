import { Past, SpaceModel } from '@meup/observer/model'
import type { Envelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { gists, Script, welcome } from './support.js'

const delta = (index: number, text: string, more: Partial<Envelope> = {}): Envelope => ({
  ...{
    protocol: 'meup/v0.3',
    id: `d${index}`,
    ts: '2026-01-01T12:00:10.000Z',
    kind: 'chat.delta',
    from: 'bot',
  },
  ...{ correlationId: 'e1', payload: { index, text } },
  ...more,
})
const texts = (model: SpaceModel): string[] => model.answers.map(({ from, text }) => `${from}: ${text}`)

/** A model after a question and the deltas of its answer. */
function asked(...deltas: Envelope[]): { script: Script; model: SpaceModel } {
  const script = new Script()
  script.chat('ana', 'Why?')
  const model = new SpaceModel()
  model.onWelcome(welcome(['ana', 'bot'], 1), 0)
  model.append([...script.envelopes, ...deltas], 0)
  return { script, model }
}

test('an answer is shown while it is written, and is in no log', () => {
  const { script, model } = asked(delta(0, 'be'), delta(1, 'cause\u202E\u0007'))
  expect(texts(model)).toEqual(['bot: because'])
  expect(gists(model)).toEqual(['ana: Why?'])
  expect([model.log.last, model.unseen]).toEqual([1, 0])
  model.append([script.chat('bot', 'because', { correlationId: 'e1' })], 0)
  expect(texts(model)).toEqual([])
  expect(gists(model)).toEqual(['ana: Why?', 'bot: because'])
})

test('it is announced once, when it is whole', () => {
  const { script, model } = asked(delta(0, 'be'), delta(1, 'cause'))
  expect(model.live.drainAnnouncements()).toBe('')
  model.append([script.chat('bot', 'because', { correlationId: 'e1' })], 0)
  expect(model.live.drainAnnouncements()).toBe('bot says: because')
})

test('a filter keeps it back as it keeps back its message', () => {
  const { model } = asked(delta(0, 'be'))
  const { filter } = model.viewFilter
  model.filter({ ...filter, from: ['ana'] })
  expect(texts(model)).toEqual([])
  model.filter({ ...filter, from: ['bot'], sorts: ['chat'] })
  expect(texts(model)).toEqual(['bot: be'])
})

test('the past has none', () => {
  const { model } = asked(delta(0, 'be'))
  const past = new Past(model)
  past.seek(1)
  while (!past.work(() => false));
  expect(past.model?.answers).toEqual([])
  expect(texts(model)).toEqual(['bot: be'])
})

test('a long text is whole while it is written', () => {
  const { model } = asked(delta(0, 'x'.repeat(50_000)))
  expect(model.answers[0]?.text).toHaveLength(50_000)
})
