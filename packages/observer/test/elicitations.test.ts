import { SpaceModel } from '@meup/observer/model'
import type { Envelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { Script } from './support.js'

const elicit = (script: Script, call: Envelope, more: Partial<Envelope> = {}): Envelope =>
  script.say({
    from: 'tools',
    to: [call.from],
    kind: 'mcp.request',
    correlationId: call.id,
    payload: { method: 'elicitation/create', params: { message: 'Which?' } },
    ...more,
  })

/** A tool call by ana in a run, with an elicitation by the tool. */
function asked(more: Partial<Envelope> = {}) {
  const script = new Script()
  const run = script.start('ana', 'Looking')
  const call = script.call('ana', run.id, 'book')
  return { script, call, question: elicit(script, call, { context: run.id, ...more }) }
}

const ids = (model: SpaceModel): string[] => model.elicitations('ana').map(({ id }) => id)

test('what a tool asks about a call of this participant waits, for nobody else', () => {
  const { script, question } = asked()
  const model = script.read()
  expect(ids(model)).toEqual([question.id])
  expect(model.elicitations('eve')).toEqual([])
  expect(model.elicitations(undefined)).toEqual([])
  const shown = model.lists.stream.rows.filter((row) => row.type === 'call' && row.isOpenElicitation)
  expect(shown.map(({ envelope }) => envelope.id)).toEqual([question.id])
})

test('what an agent asks about a chat is not shown where the chat was to somebody else', () => {
  const script = new Script()
  const payload = { message: 'Deploy it.' }
  elicit(script, script.say({ from: 'ana', to: ['bob'], kind: 'chat', payload }))
  expect(ids(script.read())).toEqual([])
})

test('the stream shows that it is over when the call has its answer', () => {
  const { script, call } = asked()
  const model = script.read()
  model.append([script.answer(call, 'done')], 0)
  expect(model.lists.stream.rows.some((row) => row.type === 'call' && row.isOpenElicitation)).toBe(false)
})

test.for<[string, Partial<Envelope>]>([
  ['that somebody else asks', { from: 'eve' }],
  ['to several', { to: ['ana', 'eve'] }],
  ['about nothing', { correlationId: 'never' }],
])('nothing is shown to fill in %s', ([, more]) => {
  expect(ids(asked(more).script.read())).toEqual([])
})

test('a log that goes back has the question open again, or not yet', () => {
  const { script, call, question } = asked()
  const model = new SpaceModel()
  const [before, after] = [script.envelopes.slice(0, -1), script.envelopes.slice(-1)]
  model.append(before, 0)
  const early = model.checkpoint(undefined)
  model.append(after, 0)
  const open = model.checkpoint(early)
  model.append([script.answer(call, 'done')], 0)
  expect(ids(model)).toEqual([])
  model.restore(open)
  expect(ids(model)).toEqual([question.id])
  model.restore(early)
  expect(ids(model)).toEqual([])
})
