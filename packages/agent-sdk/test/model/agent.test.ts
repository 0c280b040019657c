import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../../test/verifies.js'
import { adding, answering, getPrompt, listStory, stage } from './stage.js'

describe('a turn', () => {
  test('of an answer alone: a run, and the answer to the question', async () => {
    await using here = await stage([answering('It is 5.')])
    expect(await here.ask()).toBe('It is 5.')
    expect(listStory(here.heard)).toEqual(['reasoning.start', 'reasoning.conclusion', 'chat: It is 5.'])
    const [question, start, , answer] = here.heard.all.filter(
      ({ from, kind }) => kind === Kind.chat || (from === 'bot' && kind.startsWith('reasoning')),
    )
    expect(start).toMatchObject({ correlationId: question?.id, payload: { metadata: { model: 'script' } } })
    expect(answer).toMatchObject({ correlationId: question?.id, to: ['ana'] })
    expect(here.troubles).toEqual([])
  })

  verifies(
    ['I02', 'I14'],
    'calls tools for the reasons that the model gave, without asking it again',
    async () => {
      await using here = await stage([
        adding({ _rationale: 'the sum decides', a: 2, b: 3 }, { text: 'I shall add them.' }),
        answering('It is 5.'),
      ])
      expect(await here.ask()).toBe('It is 5.')
      expect(listStory(here.heard)).toEqual([
        'reasoning.start',
        'reasoning.thought: I shall add them.',
        'mcp.request add: the sum decides',
        'reasoning.conclusion',
        'chat: It is 5.',
      ])
      expect(here.model.requests).toHaveLength(2)
      const call = here.heard.all.find(
        ({ kind, payload }) => kind === Kind.mcpRequest && payload.method === 'tools/call',
      )
      expect(call?.payload).toMatchObject({ params: { name: 'add', arguments: { a: 2, b: 3 } } })
      expect(JSON.stringify(call?.payload)).not.toContain('_rationale')
      expect(JSON.stringify(here.heard.all)).not.toContain('alternatives')
    },
  )

  test('tells the model what its calls came to, and what it said itself', async () => {
    await using here = await stage([adding({ _rationale: 'why not', a: 2, b: 3 }), answering('5')])
    await here.ask()
    const [system, question, call, result] = getPrompt(here.model, 1)
    expect(system).toMatchObject({
      role: 'system',
      content: 'You are "bot". Messages of others begin with their name; further lines begin with ">".',
    })
    expect(question).toMatchObject({ role: 'user', content: [{ type: 'text', text: 'ana: What is 2 + 3?' }] })
    expect(call).toMatchObject({
      role: 'assistant',
      content: [{ type: 'tool-call', toolName: 'desk__add', input: { _rationale: 'why not', a: 2, b: 3 } }],
    })
    expect(result).toMatchObject({
      role: 'tool',
      content: [{ toolName: 'desk__add', output: { type: 'text', value: '5' } }],
    })
  })

  test('makes the calls of one step together, and numbers the groups', async () => {
    const call = (a: number) => ({ call: 'desk__add', input: { a, b: 1 } })
    await using here = await stage([
      [call(1), call(2), call(3)],
      [call(4)],
      [call(5), { call: 'desk__look', input: {} }],
      answering('done'),
    ])
    await here.ask()
    expect(listStory(here.heard).filter((line) => line.startsWith(Kind.mcpRequest))).toEqual([
      ...Array(3).fill('mcp.request add [0]: undefined'),
      'mcp.request add: undefined',
      'mcp.request add [1]: undefined',
      'mcp.request look [1]: undefined',
    ])
    const results = getPrompt(here.model, 3).at(-1)
    expect(results?.content).toMatchObject([
      { output: { type: 'text', value: '6' } },
      { output: { type: 'error-text', value: 'it is dark' } },
    ])
  })

  test('begins with what was said before, by whomever', async () => {
    await using here = await stage([answering('five'), answering('six')], { instructions: 'You can count.' })
    const { id } = await here.ana.ask('2 + 3?', { to: ['bot'] })
    await here.bob.chat('Numbers are fun', { correlationId: id })
    await here.ask('And one more?')
    expect(getPrompt(here.model, 1).map(({ role, content }) => [role, textIn(content)])).toEqual([
      [
        'system',
        'You can count.\n\nYou are "bot". Messages of others begin with their name; further lines begin with ">".',
      ],
      ['user', 'ana: 2 + 3?'],
      ['assistant', 'five'],
      ['user', 'bob: Numbers are fun\n\nana: And one more?'],
    ])
  })

  test('tells what it cost, in all and step by step', async () => {
    await using here = await stage([
      adding({ a: 1, b: 1 }, { reasoning: 'one two three' }),
      answering('it is two'),
    ])
    await here.ask()
    const conclusion = here.heard.all.find(({ kind }) => kind === Kind.reasoningConclusion)
    const tokens = { input: 20, output: 6, reasoning: 3 }
    expect(conclusion?.payload).toEqual({
      metadata: {
        ...{ model: 'script', reasoning: 'full', steps: 2, tokens },
        stepUsage: [
          { model: 'script', tokens: { input: 10, output: 3, reasoning: 3 }, ms: expect.any(Number) },
          { model: 'script', tokens: { input: 10, output: 3, reasoning: 0 }, ms: expect.any(Number) },
        ],
      },
    })
  })
})

const textIn = (content: unknown): string =>
  typeof content === 'string' ? content : (content as { text: string }[]).map(({ text }) => text).join('\n')
