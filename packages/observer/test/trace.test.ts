import { countQuestion, getMessages, listThoughts, percentile, SpaceModel } from '@meup/observer/model'
import { describe, expect, test } from 'vitest'
import { Script } from './support.js'

/** A question, and its run with a failed call and a nested run. */
function story() {
  const script = new Script()
  const question = script.chat('ana', 'Is it ready?')
  const run = script.start('planner', 'Looking', { correlationId: question.id })
  script.thought('planner', run.id, 'Tests first.')
  const call = script.call('planner', run.id, 'test')
  const nested = script.start('planner', 'Why?', { context: run.id })
  script.thought('planner', `${run.id}/${nested.id}`, 'In a sub-context.')
  script.answer(call, 'two fail', true)
  const metadata = {
    tokens: { input: 900, output: 100, reasoning: 40, cached: 500 },
    cost: 0.25,
    model: 'large',
  }
  const conclude = () =>
    script.say({
      from: 'planner',
      kind: 'reasoning.conclusion',
      context: run.id,
      payload: { message: 'No', metadata },
    })
  return { script, question, run, conclude }
}

const count = (model: SpaceModel, at = 0) => {
  const question = model.lists.questions[at]
  if (question === undefined) throw new Error('there is no such question')
  return countQuestion(question, model.lists)
}

describe('what a question came to', () => {
  test('is how long it took until the last of it ended, its tokens, cost, calls and errors', () => {
    const { script, conclude } = story()
    conclude()
    const answer = script.chat('planner', 'No.', { correlationId: 'e1' })
    const model = script.read()
    expect(count(model)).toEqual({
      ...{ from: Date.UTC(2026, 0, 1, 12, 0, 1), to: Date.UTC(2026, 0, 1, 12, 0, 9) },
      tokens: { input: 900, output: 100, reasoning: 40, cached: 500 },
      ...{ cost: 0.25, models: ['large'], calls: 1, errors: 1 },
    })
    const [question] = model.lists.questions
    expect(getMessages(question?.blocks ?? [])).toMatchObject({
      question: { id: 'e1' },
      answer: { id: answer.id },
    })
  })

  test('is counted again as it goes on', () => {
    const { script, run, conclude } = story()
    const model = script.read()
    expect(count(model)).toMatchObject({ to: undefined, calls: 1, errors: 1, cost: undefined })
    const { length } = script.envelopes
    const call = script.call('planner', run.id, 'lint')
    conclude()
    model.append(script.envelopes.slice(length), 0)
    expect(count(model)).toMatchObject({ calls: 2, errors: 1, cost: 0.25, to: expect.any(Number) })
    const { length: before } = script.envelopes
    script.answer(call, 'late', true)
    model.append(script.envelopes.slice(before), 0)
    expect(count(model)).toMatchObject({ calls: 2, errors: 2 })
  })

  test('goes on while a proposal waits', () => {
    const { script, run, conclude } = story()
    script.propose('planner', run.id, 'release')
    conclude()
    expect(count(script.read()).to).toBeUndefined()
  })
})

test('thoughts of a context are those of itself', () => {
  const { script } = story()
  const model = script.read()
  const [row] = model.lists.questions[0]?.list.rows ?? []
  if (row?.type !== 'heading') throw new Error('the first row is a run')
  expect(listThoughts(model.log, row).map(({ payload }) => payload.message)).toEqual(['Tests first.'])
})

test('a percentile is a value that is not exceeded by that share', () => {
  const values = Array.from({ length: 20 }, (_, at) => 20 - at)
  expect([0.5, 0.95, 1].map((share) => percentile(values, share))).toEqual([10, 19, 20])
  expect(percentile([7], 0.5)).toBe(7)
  expect(percentile([], 0.5)).toBeUndefined()
})

test('the totals of a long log are there at once, and again after each envelope', () => {
  const script = new Script()
  for (let at = 0; at < 300; at++) {
    const question = script.chat('ana', `Question ${at}`)
    const run = script.start('planner', 'Looking', { correlationId: question.id })
    for (let call = 0; call < 4; call++) script.answer(script.call('planner', run.id, 'test'), 'fine')
    script.conclude('planner', run.id, 'so')
  }
  const model = new SpaceModel()
  model.append(script.envelopes, 0)
  const { questions } = model.lists
  expect(questions).toHaveLength(300)
  const first = questions.map((question) => countQuestion(question, model.lists))
  const again = model.lists.questions.map((question) => countQuestion(question, model.lists))
  expect(again).toEqual(first)
})
