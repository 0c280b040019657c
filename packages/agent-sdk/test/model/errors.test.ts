import type { Deed } from '@meup/agent-sdk/ai'
import { FakeClock } from '@meup/gateway/testing'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { timeoutError } from '../../src/client/errors.js'
import { eventually } from '../support/eventually.js'
import { adding, answering, getPrompt, listStory, noAnswer, type Script, type Stage, stage } from './stage.js'

const provider = 'openai.responses'

/** The tool results in a request to the model. */
const getToolResults = ({ model }: Stage, index: number): unknown[] => {
  const { content = [] } = getPrompt(model, index).at(-1) ?? {}
  return (content as { output?: { value: unknown } }[]).map(({ output }) => output?.value)
}

describe('a provider that fails', () => {
  test('in the midst of a thought: the run is cancelled with the reason, and the asker told', async () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    await using here = await stage([[{ reasoning: 'Let me see.' }, { error }]], { provider })
    expect(await here.ask()).toBe('I could not answer: script of openai failed: Overloaded')
    expect(listStory(here.heard)).toEqual([
      'reasoning.start',
      'reasoning.thought: Let me see.',
      'reasoning.cancel: script of openai failed: Overloaded',
      'chat: I could not answer: script of openai failed: Overloaded',
    ])
    expect(here.troubles).toMatchObject([{ message: 'script of openai failed: Overloaded' }])
  })

  test('at once; and the next turn goes on', async () => {
    const script = (_: unknown, index: number): Deed[] => {
      if (index === 0) throw new Error('no key')
      return [{ text: 'now it works' }]
    }
    await using here = await stage(script)
    expect(await here.ask()).toBe('I could not answer: script of scripted failed: no key')
    expect(await here.ask()).toBe('now it works')
  })
})

const scripted = { model: 'script of scripted', ending: 'without a finish reason' }

describe('an answer that is none', () => {
  test.for<[string, readonly Deed[], string]>([
    ['is empty', [], noAnswer('no_text', {})],
    ['is blank', [{ text: ' \n ' }], noAnswer('no_text', {})],
    ['is but reasoning', [{ reasoning: 'Hm.' }], noAnswer('all_parsed', { provider: 'scripted' })],
    ['is but a thought in tags', [{ text: '<think>Hm.' }], noAnswer('only_thought', {})],
    ['ends before it begins', [{ reasoning: 'Hm.' }, { end: 'length' }], noAnswer('text_cut_off', {})],
    [
      'breaks off',
      [{ text: 'I would' }, { end: 'broken' }],
      noAnswer('broken_off_after', { ...scripted, beginning: 'I would' }),
    ],
    [
      'is withheld',
      [{ text: 'Boom' }, { end: 'content-filter' }],
      noAnswer('withheld', { ...scripted, ending: 'with "content-filter"' }),
    ],
  ])('%s', async ([, step, answer]) => {
    await using here = await stage([step], { settings: { maxRetries: 0 } })
    expect(await here.ask()).toBe(answer)
    expect(listStory(here.heard).at(-2)).toBe(answer.replace('I could not answer', 'reasoning.cancel'))
    expect(here.troubles.filter((each) => Object(each).name !== 'Notice')).toEqual([])
  })

  test('one that reaches the limit of tokens says so', async () => {
    await using here = await stage([[{ text: 'It is' }, { end: 'length' }]])
    expect(await here.ask()).toBe('It is\n\n(The answer ends here: the model reached its limit of tokens.)')
  })

  test.for([
    ['half a call', ['{"a":1']],
    ['a whole call and half a call', ['{"a":1,"b":2}', '{"a":1']],
  ] as const)(
    'of a stream that breaks off %s is not made; the model is asked again, once',
    async ([, inputs]) => {
      const step: Deed[] = [...inputs.map((input) => ({ call: 'desk__add', input })), { end: 'broken' }]
      await using here = await stage([step, step])
      expect(await here.ask()).toBe(noAnswer('broken_off', scripted))
      expect(listStory(here.heard).some((line) => line.startsWith(Kind.mcpRequest))).toBe(false)
      expect(here.model.requests).toHaveLength(2)
      expect(getPrompt(here.model, 1)).toEqual(getPrompt(here.model, 0))
    },
  )

  test('whole calls of a stream that breaks off are made', async () => {
    const both = [...adding({ a: 1, b: 2 }), ...adding({ a: 3, b: 4 }), { end: 'broken' } as const]
    await using here = await stage([both, answering('3 and 7')])
    expect(await here.ask()).toBe('3 and 7')
    expect(getToolResults(here, 1)).toEqual(['3', '7'])
  })
})

describe('a call that makes no sense', () => {
  const senseless: [string, Deed, RegExp][] = [
    ['of no tool', { call: 'desk__fly', input: {} }, /there is no tool desk__fly/],
    ['without the arguments', { call: 'desk__add', input: { a: 1 } }, /desk__add needs the arguments b/],
    ['with a list', { call: 'desk__add', input: [1, 2] }, /the arguments of desk__add are not a JSON object/],
    ['with half of them', { call: 'desk__add', input: '{"a":1,"b' }, /, or are cut off: \{"a":1,"b/],
  ]

  test.for(senseless)('%s: the model is told', async ([, deed, problem]) => {
    await using here = await stage([[deed], answering('sorry')])
    expect(await here.ask()).toBe('sorry')
    expect(getToolResults(here, 1)).toMatchObject([expect.stringMatching(problem)])
    expect(listStory(here.heard).some((line) => line.startsWith(Kind.mcpRequest))).toBe(false)
  })

  test.for(senseless)('%s: told once, then given up', async ([, deed, problem]) => {
    await using here = await stage((): Deed[] => [deed])
    expect(await here.ask()).toMatch(/^I could not answer: the model keeps making invalid tool calls: /)
    expect(here.model.requests).toHaveLength(2)
    expect(listStory(here.heard).at(-2)).toMatch(problem)
  })

  test('beside one that does: that one is made', async () => {
    await using here = await stage([
      [{ call: 'desk__fly', input: {} }, ...adding({ a: 1, b: 2 })],
      answering('3'),
    ])
    await here.ask()
    expect(getToolResults(here, 1)).toEqual(['there is no tool desk__fly', '3'])
    expect(listStory(here.heard)[1]).toMatch(/^mcp\.request add: /)
  })
})

describe('a tool', () => {
  test('that never answers', async () => {
    await using here = await stage([[{ call: 'desk__never', input: {} }], answering('too slow')], {
      limits: { toolMs: 20 },
    })
    here.desk.tool('never', {}, () => new Promise(() => {}))
    expect(await here.ask()).toBe('too slow')
    expect(getToolResults(here, 1)).toEqual([
      `The tool did not answer: ${timeoutError('response', 20).message}`,
    ])
  })

  test('that the agent may not call', async () => {
    const listing = { kind: 'mcp.request', to: 'desk', payload: { method: 'tools/list' } }
    const capabilities = ['chat', 'reasoning.*', listing]
    await using here = await stage([adding({ a: 1, b: 2 }), answering('I may not.')], { capabilities })
    expect(await here.ask()).toBe('I may not.')
    expect(getToolResults(here, 1)).toEqual([expect.stringMatching(/^The space refused the call: /)])
  })
})

describe('a limit', () => {
  const forever: Script = () => adding({ a: 1, b: 1 })

  test('of steps', async () => {
    await using here = await stage(forever, { limits: { steps: 3 } })
    expect(await here.ask()).toBe(noAnswer('step_limit', { limit: 3 }))
    expect(here.model.requests).toHaveLength(3)
  })

  test('of tokens', async () => {
    await using here = await stage(forever, { limits: { tokens: 25 } })
    expect(await here.ask()).toBe(noAnswer('token_limit', { used: 30 }))
  })

  test('of tokens in a day', async () => {
    await using here = await stage([answering('5'), answering('7')], { limits: { tokensPerDay: 5 } })
    expect(await here.ask()).toBe('5')
    expect(await here.ask()).toBe(noAnswer('day_limit', { used: 11, limit: 5, wait: '1 d' }))
    expect(here.model.requests).toHaveLength(1)
  })

  test('of time', async () => {
    const clock = new FakeClock()
    await using here = await stage([[{ wait: () => new Promise(() => {}) }]], {
      clock,
      limits: { turnMs: 5000 },
    })
    const answer = here.ask()
    await eventually(() => expect(here.model.requests).toHaveLength(1))
    clock.advance(5000)
    expect(await answer).toBe(noAnswer('time_limit', { limit: 5000 }))
    expect(here.model.requests[0]?.abortSignal?.aborted).toBe(true)
  })
})

test('a space that takes little at once gets all of it, later', async () => {
  const rates = { reasoning: { perSecond: 20, burst: 1 }, mcp: { perSecond: 20, burst: 1 } }
  const script = [adding({ a: 1, b: 2 }, { reasoning: 'Let me see.' }, { text: 'Adding.' }), answering('3')]
  await using here = await stage(script, { provider, rates })
  expect(await here.ask()).toBe('3')
  expect(here.troubles).toEqual([])
  expect(listStory(here.heard)).toEqual([
    'reasoning.start',
    'reasoning.thought: Let me see.',
    'reasoning.thought: Adding.',
    'mcp.request add: Adding.',
    'reasoning.conclusion',
    'chat: 3',
  ])
})

test('one that is paused while it thinks answers after that', async () => {
  await using here = await stage([adding({ a: 1, b: 2 }, { text: 'Adding.' }), answering('3')])
  const answer = here.ask()
  await here.heard.until(({ kind }) => kind === Kind.reasoningStart)
  await here.ana.pause(['bot'])
  await here.ana.resume(['bot'])
  expect(await answer).toBe('3')
})

test('closing the seat of an agent in the midst of a call is no error', async () => {
  await using here = await stage([[{ call: 'desk__close', input: {} }], answering('5')])
  here.desk.tool('close', {}, () => here.bot.close())
  await here.ana.chat('What is 2 + 3?', { to: ['bot'] })
  await here.ended
  expect(here.troubles).toEqual([])
})
