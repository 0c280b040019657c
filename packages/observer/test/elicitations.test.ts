import { SpaceModel } from '@meup/observer/model'
import type { Envelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
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

/** A call of ana's in a run, and what the tool asks about it. */
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

describe('what an agent asks about a chat', () => {
  const chat = (script: Script, to?: string[]): Envelope =>
    script.say({ from: 'ana', kind: 'chat', payload: { message: 'Deploy it.' }, ...(to && { to }) })

  test('waits for its sender, until the agent answers the chat', () => {
    const script = new Script()
    const asked = chat(script)
    const { id } = elicit(script, asked)
    const model = script.read()
    expect(ids(model)).toEqual([id])
    const answer = { from: 'tools', kind: 'chat', correlationId: asked.id, payload: { message: 'Done.' } }
    model.append([script.say(answer)], 0)
    expect(ids(model)).toEqual([])
  })

  test('is not shown where the chat was to somebody else', () => {
    const script = new Script()
    elicit(script, chat(script, ['bob']))
    expect(ids(script.read())).toEqual([])
  })
})

describe('it is over', () => {
  test.for<[string, (script: Script, call: Envelope, question: Envelope) => Envelope]>([
    [
      'when it is answered',
      (script, _, { id }) =>
        script.say({ from: 'ana', kind: 'mcp.response', correlationId: id, payload: { result: {} } }),
    ],
    ['when the call has its answer', (script, call) => script.answer(call, 'done')],
    [
      'when it is taken back',
      (script, _, { id }) =>
        script.say({
          from: 'tools',
          to: ['ana'],
          kind: 'mcp.request',
          correlationId: id,
          payload: { method: 'notifications/cancelled', params: { requestId: id } },
        }),
    ],
  ])('%s', ([, end]) => {
    const { script, call, question } = asked()
    const model = script.read()
    model.append([end(script, call, question)], 0)
    expect(ids(model)).toEqual([])
    expect(model.lists.stream.rows.some((row) => row.type === 'call' && row.isOpenElicitation)).toBe(false)
    // Where it is looked at as it was, it waits.
    expect(script.read().elicitations('ana')).toEqual([])
  })

  test('but not by what somebody else says of it', () => {
    const { script, question } = asked()
    script.say({ from: 'eve', kind: 'mcp.response', correlationId: question.id, payload: { result: {} } })
    expect(ids(script.read())).toEqual([question.id])
  })
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
