import { getSpan, type Lane, type LogRow, SpaceModel } from '@meup/observer/model'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { gist, Script } from './support.js'

const shown = ({ key, list }: Lane): readonly [string | null, ...string[]] => [
  key,
  ...list.slots.map((slot) => gist(list.getRow(slot))),
]

/** Two participants think in parallel while a third one asks a question. */
function story(): Script {
  const script = new Script()
  const question = script.chat('ana', 'Is it ready?')
  const run = script.start('bot', 'Looking', { correlationId: question.id })
  const other = script.start('eve', 'Me too')
  const [one, two] = ['lint', 'test'].map((name) => script.call('bot', run.id, name, { parallelGroup: 0 }))
  script.thought('eve', other.id, 'aside')
  const three = script.call('bot', run.id, 'read', { parallelGroup: 1 })
  for (const request of [two, one, three]) if (request !== undefined) script.answer(request, 'fine')
  script.conclude('eve', other.id, 'nothing')
  script.chat('bot', 'Yes.', { correlationId: question.id })
  return script
}

const listLanes = (model: SpaceModel) => model.lists.lanes.map(shown)
const whole = [
  [null, 'ana: Is it ready?', 'bot: Yes.'],
  ['bot', 'bot thinks [some] Looking', '  lint ∥ test', '  read success'],
  ['eve', 'eve concluded [closed] nothing'],
]

describe('lanes', () => {
  test('are one for each who thinks, after the conversation; calls of a batch stand side by side', () => {
    expect(listLanes(story().read())).toEqual(whole)
  })

  test('are the same in whatever pieces the log comes', () => {
    const { envelopes } = story()
    const pieces = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 14 })
    fc.assert(
      fc.property(pieces, fc.nat({ max: 13 }), (sizes, late) => {
        const model = new SpaceModel()
        let at = late
        for (const size of [...sizes, envelopes.length]) {
          model.append(envelopes.slice(at, at + size), 0)
          void listLanes(model)
          at += size
        }
        for (const _ of model.mergeInSteps(envelopes.slice(0, late), 3)) void listLanes(model)
        model.chooseAll('closed')
        const fresh = story().read()
        fresh.chooseAll('closed')
        expect(listLanes(model)[0]).toEqual(listLanes(fresh)[0])
        expect(new Set(listLanes(model))).toEqual(new Set(listLanes(fresh)))
      }),
    )
  })

  test('share what is folded with the stream', () => {
    const model = story().read()
    void listLanes(model)
    const [, heading] = model.lists.stream.rows
    model.choose(heading?.type === 'heading' ? heading.context : '', 'closed')
    expect(listLanes(model)[1]).toEqual(['bot', 'bot thinks [closed] Looking'])
  })

  test('are empty, and not there, where a filter leaves nothing in them', () => {
    const model = story().read()
    model.filter({ ...model.viewFilter.filter, from: ['eve'] })
    expect(model.lists.lanes.map(({ key }) => key)).toEqual(['eve'])
  })
})

describe('the trace', () => {
  const rows = (model: SpaceModel): LogRow[] => {
    return model.lists.questions.flatMap(({ list }) => list.slots.map((slot) => list.getRow(slot)))
  }

  test('has what takes time, with when it began and ended', () => {
    const model = story().read()
    model.chooseAll('all')
    expect(rows(model).map(gist)).toEqual([
      'bot thinks [all] Looking',
      '  lint success',
      '  test success',
      '  read success',
      'eve concluded [all] nothing',
    ])
    const start = Date.UTC(2026, 0, 1, 12)
    const seconds = (from: number, to?: number) => ({
      from: start + from * 1000,
      to: to === undefined ? undefined : start + to * 1000,
    })
    expect(rows(model).map(getSpan)).toEqual([
      seconds(2),
      seconds(4, 9),
      seconds(5, 8),
      seconds(7, 10),
      seconds(3, 11),
    ])
  })

  test('shows how long a proposal has waited', () => {
    const script = new Script()
    const run = script.start('bot', 'Looking')
    const { id } = script.propose('bot', run.id, 'release')
    expect(rows(script.read()).map(getSpan)[1]).toMatchObject({ to: undefined })
    script.chat('ana', 'wait')
    script.say({ from: 'bot', kind: 'mcp.withdraw', correlationId: id, payload: { reason: 'no need' } })
    const model = script.read()
    model.chooseAll('all')
    const [, proposal] = rows(model).map(getSpan)
    expect((proposal?.to ?? 0) - (proposal?.from ?? 0)).toBe(2000)
  })
})
