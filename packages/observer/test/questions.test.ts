import { readSettings, resultParts, SpaceModel } from '@meup/observer/model'
import { describe, expect, test } from 'vitest'
import { gist, gists, Script } from './support.js'

/** A question that two agents work on: one asks the other. A second question arrives in between. */
function story() {
  const script = new Script()
  const first = script.chat('ana', 'Is it ready?')
  const run = script.start('planner', 'Looking', { correlationId: first.id })
  const asked = script.chat('planner', 'Do the tests pass?', { context: run.id, to: ['tester'] })
  const second = script.chat('eve', 'And the docs?')
  const test = script.start('tester', 'Running them', { correlationId: asked.id })
  const call = script.call('tester', test.id, 'test')
  script.answer(call, 'they do')
  script.conclude('tester', test.id, 'They do')
  script.chat('tester', 'Yes.', { correlationId: asked.id })
  const job = script.start('janitor', 'It is late')
  script.chat('planner', 'It is.', { correlationId: first.id })
  return { script, first, second, job }
}

describe('what goes back to one question', () => {
  const origins = (model: SpaceModel) => model.lists.stream.rows.map((row) => [gist(row), row.origin])

  test('is known by it, across agents; a run that nobody asked for stands for itself', () => {
    const { script, first, second, job } = story()
    const model = script.read()
    model.chooseAll('closed')
    expect(origins(model)).toEqual([
      ['ana: Is it ready?', first.id],
      ['planner thinks [closed] Looking', first.id],
      ['eve: And the docs?', second.id],
      ['tester concluded [closed] They do', first.id],
      ['tester: Yes.', first.id],
      ['janitor thinks [closed] It is late', job.id],
      ['planner: It is.', first.id],
    ])
  })

  test('is known by an id where the question is not loaded', () => {
    const { script, first } = story()
    const model = new SpaceModel()
    model.append(script.envelopes.slice(1), 0)
    expect(model.lists.stream.rows[0]?.origin).toBe(first.id)
    expect(model.getOrigin(script.presence('join', 'eve'))).toBeUndefined()
  })

  test('ends where envelopes refer to each other', () => {
    const script = new Script()
    const one = script.chat('ana', 'first', { correlationId: 'e2' })
    script.chat('bot', 'second', { correlationId: one.id })
    expect(script.read().lists.stream.rows.map(({ origin }) => origin)).toHaveLength(2)
  })

  test('has its trace in the order in which it began, also where that is loaded later', () => {
    const { script, first, job } = story()
    const model = new SpaceModel()
    model.append(script.envelopes.slice(9), 0)
    expect(model.lists.questions.map(({ key }) => key)).toEqual([job.id])
    model.merge(script.envelopes.slice(0, 9))
    expect(model.lists.questions.map(({ key }) => key)).toEqual([first.id, job.id])
  })

  test('has a trace of its own, open to its calls, if something of it takes time', () => {
    const { script, first, second, job } = story()
    const model = script.read()
    const keys = () => model.lists.questions.map(({ key }) => key)
    expect(keys()).toEqual([first.id, job.id])
    const later = script.start('clerk', 'Reading them', { correlationId: second.id })
    model.append([later], 0)
    expect(keys()).toEqual([first.id, second.id, job.id])
    expect(model.lists.questions[0]?.list.rows.map(gist)).toEqual([
      'planner thinks [all] Looking',
      'tester concluded [all] They do',
      '  test success',
    ])
    model.chooseAll('closed')
    expect(model.lists.questions[0]?.list.rows.map(gist)).toEqual([
      'planner thinks [closed] Looking',
      'tester concluded [closed] They do',
    ])
  })
})

describe('who came and went', () => {
  const arrivals = (...events: (readonly [event: string, id: string])[]) => {
    const script = new Script()
    for (const [event, id] of events) script.presence(event, id)
    return gists(script.read())
  }

  test('is one line', () => {
    expect(arrivals(['join', 'ana'], ['join', 'bot'], ['leave', 'ana'])).toEqual([
      'event ana, bot are here · ana left',
    ])
  })

  test('is none where everybody was back at once', () => {
    expect(arrivals(['leave', 'ana'], ['join', 'ana'])).toEqual([])
    expect(arrivals(['leave', 'ana'], ['leave', 'bot'], ['join', 'ana'])).toEqual(['event bot left'])
  })
})

test('parallel calls stand side by side in the stream as well', () => {
  const script = new Script()
  const run = script.start('bot', 'Looking')
  for (const name of ['lint', 'test']) script.call('bot', run.id, name, { parallelGroup: 0 })
  script.call('bot', run.id, 'read')
  expect(gists(script.read())).toEqual(['bot thinks [some] Looking', '  lint ∥ test', '  read pending'])
})

describe('arguments', () => {
  const settings = (args: unknown, more: object = {}) =>
    readSettings({ params: { name: 'revert', arguments: args, ...more } })

  test('are names and texts where that says all of them', () => {
    expect(settings({ change: 'auth-token', build: 4200, force: true })).toEqual([
      ['change', 'auth-token'],
      ['build', '4200'],
      ['force', 'true'],
    ])
  })

  test.each([
    ['a text that could be a number', { build: '4200' }],
    ['a text that could be a word of JSON', { force: 'true' }],
    ['nothing', { change: '' }],
    ['a text on two lines', { change: 'a\nb' }],
    ['what is not seen', { change: 'a\u200bb' }],
    ['blanks at the ends', { change: ' a' }],
    ['something nested', { change: { id: 1 } }],
    ['a number that is not what was sent', { order: 2 ** 60 }],
    ['a fraction', { share: 0.1 }],
    ['a long text', { change: 'x'.repeat(121) }],
    ['a strange name', { 'change: a': 'b' }],
    ['too many', Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`f${at}`, 'x']))],
  ])('are JSON where there is %s', (_, args) => expect(settings(args)).toBeUndefined())

  test('of a command come first, with every sign of it', () => {
    expect(settings({ cwd: 'work', command: '-x rm -rf ../..' })).toEqual([
      ['command', '-x rm -rf ../..'],
      ['cwd', 'work'],
    ])
    expect(settings({ command: 'ls      ; rm -rf .' })).toBeUndefined()
    expect(settings({ command: 'ls\nrm -rf .' })).toBeUndefined()
    expect(settings({ command: 'ls \u202erm' })).toBeUndefined()
  })

  test('are none where there are none', () => {
    expect(readSettings({ params: { name: 'revert' } })).toBeUndefined()
  })
})

test('a text that a server sends twice shows once', () => {
  const result = { content: [{ type: 'text', text: 'fine' }], structuredContent: { content: 'fine' } }
  expect(resultParts({ result }, {})).toEqual([{ type: 'text', text: 'fine' }])
  const other = { ...result, structuredContent: { content: 'not fine' } }
  expect(resultParts({ result: other }, {})).toHaveLength(2)
})
