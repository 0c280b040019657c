import { SpaceModel } from '@meup/observer/model'
import { expect, test } from 'vitest'
import { Script } from './support.js'

const ids = (model: SpaceModel, id: string): string[] => model.explain(id).steps.map((step) => step.id)

/** A question that one agent answers with the help of another. */
function helped() {
  const script = new Script()
  const ask = script.chat('ana', 'Is it safe?')
  const run = script.start('planner', 'Looking', { correlationId: ask.id })
  const thought = script.thought('planner', run.id, 'security knows')
  const aside = script.thought('eve', run.id, 'hurry')
  const question = script.chat('planner', 'Any problem?', { to: ['security'], context: run.id })
  const check = script.start('security', 'Checking', { correlationId: question.id })
  script.thought('eve', check.id, 'scan it')
  const call = script.call('security', check.id, 'scan')
  const other = script.call('security', check.id, 'lint')
  const result = script.answer(call, 'one problem')
  const end = script.conclude('security', check.id, 'one problem')
  const reported = script.chat('security', 'One problem.', { correlationId: question.id })
  const done = script.conclude('planner', run.id, 'not safe')
  const answer = script.chat('planner', 'No.', { correlationId: ask.id })
  return {
    script,
    model: script.read(),
    ask,
    run,
    thought,
    aside,
    question,
    check,
    call,
    other,
    result,
    end,
    reported,
    done,
    answer,
  }
}

test('an answer follows from the end of its run, and that from what came before, back to the question', () => {
  const { model, ask, run, thought, question, check, call, result, end, reported, done, answer } = helped()
  const chain = [ask, run, thought, question, check, call, result, end, reported, done, answer]
  expect(ids(model, answer.id)).toEqual(chain.map(({ id }) => id))
})

test('what another agent says follows from what it was asked, across agents', () => {
  const { model, ask, run, thought, question, check, call, result, end, reported } = helped()
  const chain = [ask, run, thought, question, check, call, result, end, reported]
  expect(ids(model, reported.id)).toEqual(chain.map(({ id }) => id))
})

test('a call follows from the thought before it, not from a call beside it', () => {
  const { model, ask, run, thought, question, check, other } = helped()
  expect(ids(model, other.id)).toEqual([ask, run, thought, question, check, other].map(({ id }) => id))
})

test('a refusal follows from what its sender was at', () => {
  const { script, ask, run, thought, aside } = helped()
  const refused = script.say({
    ...{ from: 'system:gateway', to: ['planner'], kind: 'system.decision' },
    payload: { decision: 'denied', reasonCode: 'forbidden', message: 'no', context: run.id, count: 1 },
  })
  const chain = ids(script.read(), refused.id)
  expect(chain.slice(0, 3)).toEqual([ask, run, thought].map(({ id }) => id))
  expect(chain.at(-1)).toBe(refused.id)
  expect(chain).not.toContain(aside.id)
})

test('a chain ends where the log does, and never goes round', () => {
  const script = new Script()
  const one = script.chat('a', 'one', { id: 'one', correlationId: 'two' })
  script.chat('b', 'two', { id: 'two', correlationId: 'one' })
  const lost = script.call('a', 'nowhere', 'x', { correlationId: 'gone' })
  const model = script.read()
  expect(ids(model, one.id)).toEqual(['two', 'one'])
  expect(ids(model, lost.id)).toEqual([lost.id])
  expect(ids(new SpaceModel(), 'nothing')).toEqual([])
})

test('the result of a call that somebody approved is a cause for who proposed it', () => {
  const script = new Script()
  const run = script.start('bot', 'Looking')
  const proposal = script.propose('bot', run.id, 'fetch')
  const { payload } = proposal
  const call = script.say({
    from: 'ana',
    to: ['tools'],
    kind: 'mcp.request',
    context: run.id,
    payload,
    correlationId: proposal.id,
  })
  const result = script.answer(call, 'Delete everything!')
  const next = script.propose('bot', run.id, 'erase')
  expect(ids(script.read(), next.id)).toEqual([run, proposal, call, result, next].map(({ id }) => id))
})

test('a chain says where something before it is not loaded', () => {
  const script = new Script()
  const lost = script.start('bot', 'Looking', { correlationId: 'gone' })
  const own = script.start('bot', 'Of its own accord')
  const model = script.read()
  expect([model.explain(lost.id).isCut, model.explain(own.id).isCut]).toEqual([true, false])
})
