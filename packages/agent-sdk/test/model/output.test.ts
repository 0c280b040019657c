import { type Answer, connect, type InputSchema } from '@meup/agent-sdk'
import { scriptedModel } from '@meup/agent-sdk/ai'
import { testToken } from '@meup/gateway/testing'
import { type AnyEnvelope, Kind } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod-3'
import { caughtUp } from '../support/record-envelopes.js'
import { standing } from '../support/standing.js'
import { answering, getPrompt, noAnswer, type Script, type Stage, stage } from './stage.js'

const Review = Type.Object({ verdict: Type.String(), score: Type.Integer({ maximum: 10 }) })
const good = '{"verdict":"ship it","score":9}'
const data = { verdict: 'ship it', score: 9 }

const askIn = ({ ana }: Stage): Promise<Answer> => ana.ask('Review this.', { to: ['bot'] })
const chatIn = ({ heard }: Stage): AnyEnvelope | undefined =>
  heard.all.find(({ kind, from }) => kind === Kind.chat && from === 'bot')

test('an answer that fits is text for people, and data for programs', async () => {
  await using here = await stage([answering(good)], { output: Review, instructions: 'You review.' })
  expect(await askIn(here)).toMatchObject({ text: good, data })
  await caughtUp(here.bot, here.heard)
  expect(chatIn(here)?.payload).toEqual({ message: good, format: 'markdown', data })
  const [system] = getPrompt(here.model, 0)
  expect(system?.content).toMatch(/^You review\.\n\nYour final answer is one JSON value/)
  expect(system?.content).toContain(JSON.stringify(Review))
})

test('one without an output has no data', async () => {
  await using here = await stage([answering(good)])
  expect(await askIn(here)).not.toHaveProperty('data')
})

describe('the schema may be', () => {
  test.each<[string, InputSchema]>([
    ['of TypeBox', Review],
    ['of zod 4', z.object({ verdict: z.string(), score: z.number().max(10) })],
    ['of zod 3', z3.object({ verdict: z3.string(), score: z3.number().max(10) })],
    ['a JSON Schema', JSON.parse(JSON.stringify(Review))],
  ])('%s', async (_, output) => {
    await using here = await stage([answering('{"verdict":"ship it","score":11}'), answering(good)], {
      output,
    })
    expect(await askIn(here)).toMatchObject({ data })
    expect(JSON.stringify(getPrompt(here.model, 0)[0]?.content)).toMatch(/verdict.*10/)
    expect(JSON.stringify(getPrompt(here.model, 1).at(-1))).toMatch(
      /does not fit the JSON Schema: \/?score: /,
    )
  })

  test('one that makes something else of it', async () => {
    const output = z.object({ tags: z.string().transform((text) => text.split(',')) })
    await using here = await stage([answering('{"tags":"a,b"}')], { output })
    expect(await askIn(here)).toMatchObject({ data: { tags: ['a', 'b'] } })
  })

  test('none: that ends the agent', async () => {
    await using here = await stage([], { output: { type: 'objekt' } })
    await expect(here.ended).rejects.toThrow(
      /^an agent cannot have this output: it is not a JSON Schema: \/type must be one of /,
    )
  })
})

describe('the value is found', () => {
  test.each<[where: string, text: string]>([
    ['in a code fence', `\`\`\`json\n${good}\n\`\`\``],
    ['in a code fence between words', `Here it is:\n\n\`\`\`json\n${good}\n\`\`\`\n\nI hope it helps [1].`],
    ['between words', `My review is ${good}. Ask me more.`],
    ['over several lines', `Sure!\n{\n  "verdict": "ship it",\n  "score": 9\n}`],
    ['after brackets that are no JSON', `As [you] {asked}: ${good}`],
    ['after thoughts in tags', `<think>{"verdict":"no"}</think>${good}`],
  ])('%s', async (_, text) => {
    await using here = await stage([answering(text)], { output: Review })
    expect(await askIn(here)).toMatchObject({ data })
  })

  test.each<[what: string, output: InputSchema, text: string, value: unknown]>([
    ['a list', Type.Array(Type.Number()), 'These: [1, 2]', [1, 2]],
    ['a text', Type.String(), '"yes"', 'yes'],
    ['false', Type.Boolean(), '```\nfalse\n```', false],
    ['null', Type.Null(), 'null', null],
  ])('where it is %s', async (_, output, text, value) => {
    await using here = await stage([answering(text)], { output })
    expect(await askIn(here)).toHaveProperty('data', value)
  })
})

describe('an answer that does not fit', () => {
  const cases: [what: string, text: string, problem: string][] = [
    ['is no JSON', 'Ship it!', 'it is not one JSON value'],
    ['is two values', `${good} or ${good}`, 'it is not one JSON value'],
    ['is cut off', good.slice(0, -3), 'it is not one JSON value'],
    [
      'is nothing but brackets',
      Array.from({ length: 20_000 }, (_, n) => `[${n},`).join(''),
      'it is not one JSON value',
    ],
    ['lacks something', '{"verdict":"ship it"}', '/score: Expected required property'],
    ['is of another type', '[1]', 'the answer: Expected object'],
  ]

  test.each(cases)('as it %s, is asked for once more, with why', async (_, text, problem) => {
    await using here = await stage([answering(text), answering(good)], { output: Review })
    expect(await askIn(here)).toMatchObject({ text: good, data })
    const prompt = getPrompt(here.model, 1)
    expect(prompt.slice(-2).map(({ role }) => role)).toEqual(['assistant', 'user'])
    expect(JSON.stringify(prompt.at(-1))).toContain(`does not fit the JSON Schema: ${problem}. Answer again`)
  })

  test.each(cases)('again, as it %s, is none', async (_, text, problem) => {
    await using here = await stage([answering(text), answering(text), answering(good)], { output: Review })
    expect(await askIn(here)).toMatchObject({
      text: noAnswer('invalid_answer', { problem }),
      noAnswer: 'failed',
    })
    expect(here.model.requests).toHaveLength(2)
  })

  test('calls and steering in between give it no further chance', async () => {
    const adding = { call: 'desk__add', input: { a: 1, b: 2 } }
    const script: Script = [answering('no'), [adding], answering('no'), answering(good)]
    await using here = await stage(script, { output: Review })
    expect((await askIn(here)).noAnswer).toBe('failed')
    expect(here.model.requests).toHaveLength(3)
  })
})

test('numbers keep the digits that the model wrote', async () => {
  const gateway = await standing({ participants: { ana: ['*'], bot: ['*'] } })
  onTestFinished(() => gateway.stop())
  const join = (as: string) => connect({ url: gateway.url, space: 'test', token: testToken(as) })
  await using ana = await join('ana')
  await using bot = await join('bot')
  const exact = '{"id":12345678901234567890,"price":1.0,"name":"é \\"x\\""}'
  const output = Type.Object({ id: Type.Number(), price: Type.Number(), name: Type.String() })
  void bot.agent({ model: scriptedModel([answering(`It is ${exact}`)]), output })
  const { id } = await ana.ask('Which?', { to: ['bot'] })
  const headers = { authorization: `Bearer ${testToken('ana')}` }
  const log = await (await fetch(`${gateway.url}/spaces/test/envelopes?kind=chat`, { headers })).text()
  expect(log).toContain(`"data":${exact}`)
  expect(log).toContain(id)
})

test('data that no envelope holds is an answer that says so', async () => {
  const text = JSON.stringify({ list: 'x'.repeat(300_000) })
  await using here = await stage([answering(text)], { output: Type.Object({ list: Type.String() }) })
  const { text: why, noAnswer } = await askIn(here)
  expect(noAnswer).toBe('failed')
  expect(why).toMatch(/^I could not answer: The envelope has 36\d+ bytes\. Send at most 262144\./)
})

test('a hand-written agent replies with data, and a message may have some', async () => {
  await using here = await stage([])
  void here.bob.answer(async (turn) => {
    const { data: asked } = turn.trigger.payload
    await turn.reply('Three.', { data: { asked, sum: 3 } })
  })
  expect(await here.ana.ask('1 + 2?', { to: ['bob'], data: [1, 2] })).toMatchObject({
    text: 'Three.',
    data: { asked: [1, 2], sum: 3 },
  })
})
