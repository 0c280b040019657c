import { createOpenAI } from '@ai-sdk/openai'
import type { AgentModel } from '@meup/agent-sdk'
import { Kind } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import { describe, expect, test } from 'vitest'
import {
  completion,
  delta,
  events,
  type ModelReply,
  saying,
  serveModel,
} from '../../../../test/support/model-server.js'
import { times } from '../../../../test/support/soak.js'
import argumentForms from '../fixtures/model-habits/arguments.json' with { type: 'json' }
import callForms from '../fixtures/model-habits/calls-as-text.json' with { type: 'json' }
import finishReasons from '../fixtures/model-habits/finish-reasons.json' with { type: 'json' }
import names from '../fixtures/model-habits/names-of-tools.json' with { type: 'json' }
import textsAboutCalls from '../fixtures/model-habits/texts-about-calls.json' with { type: 'json' }
import thoughts from '../fixtures/model-habits/thoughts.json' with { type: 'json' }
import { getToolCalls, listStory, noAnswer, stage } from './stage.js'
import { event } from './wire.js'

const answer = 'It is 5.'

/** Splits a text into the deltas of a stream, with `length` characters each. */
const inPieces = (text: string, length = times(7, 3)): object[] =>
  (text.match(new RegExp(`[\\s\\S]{1,${length}}`, 'g')) ?? []).map((content) => ({ content }))

const speaking = (text: string): string => completion('stop', ...inPieces(text))

/** An agent without memory, so that each question is a separate conversation. Its model answers with these texts in order. */
async function conversations(texts: readonly string[]) {
  const { baseURL, requests } = await serveModel(texts.map((text) => ({ body: speaking(text) })))
  const here = await stage([], { model: 'm', baseURL, memory: 0 })
  let [asked, heard] = [0, 0]
  return {
    /** Asks once. Returns the answer, and the envelopes and requests of that turn. */
    ask: async () => {
      const text = await here.ask()
      const all = here.heard.all.slice(heard)
      const sent = requests.slice(asked)
      ;[asked, heard] = [requests.length, here.heard.all.length]
      return { text, heard: { ...here.heard, all }, requests: sent }
    },
    [Symbol.asyncDispose]: () => here[Symbol.asyncDispose](),
  }
}

test.for(callForms)('a call as text in the form of $of is made, and is no answer', async ({ variants }) => {
  await using here = await conversations(variants.flatMap(({ text }) => [text, answer]))
  for (const { name, calls, ...variant } of variants) {
    const { text, heard, requests } = await here.ask()
    expect(text, name).toBe(answer)
    expect(getToolCalls({ heard }), name).toEqual(calls.map((each) => ({ name: 'add', arguments: each })))
    const said = 'said' in variant ? variant.said : ''
    const thoughts = listStory(heard).filter((line) => line.startsWith('reasoning.thought'))
    expect(thoughts, name).toEqual(said === '' ? [] : [`reasoning.thought: ${said}`])
    const [, , step, ...results] = requests[1]?.body.messages ?? []
    const sent = calls.map((each) => ({ name: 'desk__add', arguments: JSON.stringify(each) }))
    expect(step, name).toMatchObject({
      role: 'assistant',
      tool_calls: sent.map((each) => ({ function: each })),
    })
    expect(String(step?.content ?? '').trim(), name).toBe(said)
    expect(
      results.map(({ content }) => content),
      name,
    ).toEqual(calls.map(({ a, b }) => `${a + b}`))
    expect(JSON.stringify(heard.all), name).not.toContain('RAW THOUGHT')
  }
})

test.for(textsAboutCalls)('a text about calls is no call: $name', async ({ text }) => {
  const { baseURL, requests } = await serveModel([{ body: speaking(text) }])
  await using here = await stage([], { model: 'm', baseURL })
  expect(await here.ask()).toBe(text)
  expect(getToolCalls(here)).toEqual([])
  expect(requests).toHaveLength(1)
})

test('a call that a later text follows, after a thought, is no call', async () => {
  const call = '<tool_call>{"name": "desk__add", "arguments": {"a": 2, "b": 3}}</tool_call>'
  const deltas = [{ content: `Like so: ${call}` }, { reasoning_content: 'Hm' }, { content: ' and wait.' }]
  const { baseURL, requests } = await serveModel([{ body: completion('stop', ...deltas) }])
  await using here = await stage([], { model: 'm', baseURL })
  expect(await here.ask()).toBe(`Like so: ${call} and wait.`)
  expect(getToolCalls(here)).toEqual([])
  expect(requests).toHaveLength(1)
})

test.for([
  '<tool_call>{"name": "get_weather", "arguments": {"city": "Ulm"}}</tool_call>',
  '[TOOL_CALLS]get_weather[ARGS]{"city": "Ulm"}',
  '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
])('nothing but a call of no tool is asked for again: %s', async (text) => {
  const { baseURL, requests } = await serveModel([{ body: speaking(text) }, saying(answer)])
  await using here = await stage([], { model: 'm', baseURL })
  expect(await here.ask()).toBe(answer)
  expect(requests[1]?.body.messages.at(-1)).toMatchObject({ content: 'there is no tool get_weather' })
})

test.for([
  '<tool_call>\n{"name": "desk__add", "arguments": {"a": 2, "b": 3}}\n</tool_call>',
  'I add. <tool_call><function=desk__add><parameter=a>2</parameter><parameter=b>3</parameter></function></tool_call>',
  '<|channel|>commentary to=functions.desk__add<|message|>{"a":2,"b":3}<|call|>',
])('a call that stands in the reasoning, where nothing is said, is made: %s', async (reasoning_content) => {
  const { baseURL } = await serveModel([{ body: completion('stop', { reasoning_content }) }, saying(answer)])
  await using here = await stage([], { model: 'm', baseURL })
  expect(await here.ask()).toBe(answer)
  expect(getToolCalls(here)).toEqual([{ name: 'add', arguments: { a: 2, b: 3 } }])
})

test.for([
  ['true', 'True', true],
  ['a number', '7', 7],
  ['a text that looks like a number', '007', '007'],
  ['an object', '{"x": [1]}', { x: [1] }],
  ['a text of many lines', 'a\n<b>\n"c"', 'a\n<b>\n"c"'],
] as const)('the value of a parameter has the type of its schema: %s', async ([name, text, value]) => {
  const call = `<tool_call>\n<function=desk__keep>\n<parameter=it>\n${text}\n</parameter>\n</function>\n</tool_call>`
  const { baseURL } = await serveModel([{ body: speaking(call) }, saying(answer)])
  await using here = await stage([], { model: 'm', baseURL })
  const input = Type.Object({ it: name.startsWith('a text') ? Type.String() : Type.Unknown() })
  here.desk.tool('keep', { input }, () => 'kept')
  expect(await here.ask()).toBe(answer)
  expect(getToolCalls(here)).toEqual([{ name: 'keep', arguments: { it: value } }])
})

test.for([
  "<tool_call>{'name': 'desk__add', 'arguments': {'a': 2, 'b': 3}}</tool_call>",
  '<tool_call>\n{"name": "desk__add", "arguments": {"a": 2, "b": 3}}}\n</tool_call>',
  '<tool_call>\n```json\n{"name": "desk__add", "arguments": {"a": 2, "b": 3}}\n```\n</tool_call>',
  '<tool_call><function name="desk__add"><a>2</a><b>3</b></function></tool_call>',
  '<|tools_prefix|>[{"desk__add": 2}]<|tools_suffix|>',
])('nothing but a call that cannot be read is told to the model, and is no answer: %s', async (text) => {
  const { baseURL, requests } = await serveModel([{ body: speaking(text) }, saying(answer)])
  await using here = await stage([], { model: 'm', baseURL })
  expect(await here.ask()).toBe(answer)
  const [, , step, result] = requests[1]?.body.messages ?? []
  expect(result?.content).toMatch(/^the arguments of desk__add are not a JSON object, or are cut off: /)
  expect(step).toMatchObject({ tool_calls: [{ function: { name: 'desk__add', arguments: '{}' } }] })
  expect(step?.content ?? '').toBe('')
})

test.for(['<tool_call>', '</tool_call>\n', '<|tool_calls_section_begin|>', '[TOOL_CALLS]'])(
  'a mark that a server leaves beside its call is no reason of it: %s',
  async (mark) => {
    const call = { index: 0, id: 'c', function: { name: 'desk__add', arguments: '{"a":2,"b":3}' } }
    const { baseURL, requests } = await serveModel([
      { body: completion('tool_calls', ...inPieces(mark), { tool_calls: [call] }) },
      saying(answer),
    ])
    await using here = await stage([], { model: 'm', baseURL })
    expect(await here.ask()).toBe(answer)
    expect(listStory(here.heard)).toContain('mcp.request add: undefined')
    expect(requests[1]?.body.messages[2]?.content ?? '').toBe('')
  },
)

test.for([
  '<tool_call>\n{"name": "desk__add", "arg',
  '[TOOL_CALLS]desk__add[ARGS]{"a":',
  '<invoke name="desk__add">',
])('half a call as text does not go back to a model that is stopped: %s', async (half) => {
  async function* body(): AsyncGenerator<string> {
    yield events(...inPieces(`Adding.\n${half}`).map((each) => delta(each)))
    await new Promise(() => {})
  }
  const replies: ModelReply[] = [{ body: body() }, { body: speaking(answer) }]
  const { baseURL, requests } = await serveModel(replies)
  await using here = await stage([], { model: 'm', baseURL, live: true })
  await here.ana.chat('What is 2 + 3?', { to: ['bot'] })
  await here.heard.until(({ kind }) => kind === Kind.chatDelta)
  await here.ana.chat('Quickly!', { to: ['bot'] })
  await here.heard.until(({ from, kind }) => from === 'bot' && kind === Kind.chat)
  expect(requests[1]?.body.messages[2]).toMatchObject({ role: 'assistant', content: 'Adding.\n' })
})

test('two hundred calls at once are made, each once', async () => {
  const all = Array.from({ length: 200 }, (_, index) => index)
  const tool_calls = all.map((index) => ({
    index,
    id: `c${index}`,
    function: { name: 'desk__add', arguments: `{"a":${index},"b":1}` },
  }))
  const { baseURL, requests } = await serveModel([
    { body: completion('tool_calls', { tool_calls }) },
    saying(answer),
  ])
  await using here = await stage([], { model: 'm', baseURL })
  expect(await here.ask()).toBe(answer)
  expect(getToolCalls(here)).toHaveLength(all.length)
  expect(requests[1]?.body.messages.slice(3).map(({ content }) => content)).toEqual(
    all.map((index) => `${index + 1}`),
  )
})

test('arguments of 1 MiB are made or refused, and the model is told', async () => {
  const text = 'x'.repeat(2 ** 20)
  const call = { index: 0, id: 'c', function: { name: 'desk__keep', arguments: JSON.stringify({ text }) } }
  const { baseURL, requests } = await serveModel([
    { body: completion('tool_calls', { tool_calls: [call] }) },
    saying(answer),
  ])
  await using here = await stage([], { model: 'm', baseURL })
  here.desk.tool('keep', { input: Type.Object({ text: Type.String() }) }, ({ text }) => `${text.length}`)
  expect(await here.ask()).toBe(answer)
  expect(requests[1]?.body.messages.at(-1)?.content).toMatch(
    /^The space refused the call: The envelope has \d+ bytes/,
  )
})

describe('the name of a tool', () => {
  const calling = (name: string) => {
    const call = { index: 0, id: 'c', function: { name, arguments: '{"a":2,"b":3}' } }
    return { body: completion('tool_calls', { tool_calls: [call] }) }
  }

  test.for(names['means desk__add'])('%j means desk__add', async (name) => {
    const { baseURL, requests } = await serveModel([calling(name), saying(answer)])
    await using here = await stage([], { model: 'm', baseURL })
    expect(await here.ask()).toBe(answer)
    expect(getToolCalls(here)).toEqual([{ name: 'add', arguments: { a: 2, b: 3 } }])
    expect(requests[1]?.body.messages[2]).toMatchObject({ tool_calls: [{ function: { name: 'desk__add' } }] })
  })

  test.for(names['means no tool'])('%j means no tool', async (name) => {
    const { baseURL, requests } = await serveModel([calling(name), saying(answer)])
    await using here = await stage([], { model: 'm', baseURL })
    expect(await here.ask()).toBe(answer)
    expect(getToolCalls(here)).toEqual([])
    expect(requests[1]?.body.messages.at(-1)?.content).toMatch(/^there is no tool [\w-]+$/)
  })

  test.for(['ADD', 'desk-add', 'functions.add'])('%s, which may be two tools, is neither', async (name) => {
    const { baseURL, requests } = await serveModel([calling(name), saying(answer)])
    await using here = await stage([], { model: 'm', baseURL })
    here.desk.tool('Add', { input: Type.Object({ a: Type.Number(), b: Type.Number() }) }, () => '0')
    expect(await here.ask()).toBe(answer)
    expect(getToolCalls(here)).toEqual([])
    expect(requests[1]?.body.messages.at(-1)?.content).toMatch(/^there is no tool /)
  })
})

test.for(argumentForms)('the arguments of calls: $name', async ({ deltas, calls, ...given }) => {
  const pieces = [
    ...('content' in given ? [{ content: given.content }] : []),
    ...deltas.map((tool_calls) => ({ tool_calls })),
  ]
  const { baseURL, requests } = await serveModel([
    { body: completion('tool_calls', ...pieces) },
    saying(answer),
  ])
  await using here = await stage([], { model: 'm', baseURL })
  expect(await here.ask()).toBe(answer)
  const name = 'tool' in given ? given.tool : 'add'
  expect(getToolCalls(here)).toEqual(calls.map((each) => ({ name, arguments: each })))
  const results = requests[1]?.body.messages.slice(3) ?? []
  expect(new Set(results.map((each) => Object(each).tool_call_id)).size).toBe(calls.length)
})

describe('an answer that ends', () => {
  const ending = (reason: string) => completion(reason, { content: 'It is due, unless' })
  const asked = async (...bodies: (string | ModelReply)[]) => {
    const replies = bodies.map((body) => (typeof body === 'string' ? { body } : body))
    const { baseURL, requests } = await serveModel(replies)
    await using here = await stage([], { model: 'm', baseURL })
    return { text: (await here.ask()).replace(baseURL, '*'), requests }
  }

  test.for(finishReasons.whole)('with %s is whole', async (reason) => {
    expect((await asked(ending(reason))).text).toBe('It is due, unless')
  })

  test.for(finishReasons.cut)('with %s was cut off', async (reason) => {
    expect((await asked(ending(reason))).text).toMatch(/^It is due, unless\n\n\(The answer ends here: /)
  })

  test.for(finishReasons.refused)('with %s was withheld', async (reason) => {
    expect((await asked(ending(reason))).text).toBe(
      noAnswer('withheld', { model: 'm at *', ending: `with "${reason}"` }),
    )
  })

  test.for(finishReasons.failed)(
    'with %s has failed: it is asked for again, then given up',
    async (reason) => {
      expect((await asked(ending(reason), speaking(answer))).text).toBe(answer)
      const { text, requests } = await asked(ending(reason), ending(reason))
      expect(text).toBe(
        noAnswer('broken_off_after', {
          model: 'm at *',
          ending: `with "${reason}"`,
          beginning: 'It is due, unless',
        }),
      )
      expect(requests[1]?.body.messages).toEqual(requests[0]?.body.messages)
    },
  )

  test.for(finishReasons.unknown)('with %s may not be whole', async (reason) => {
    expect((await asked(ending(reason))).text).toBe(
      `It is due, unless\n\n(The answer may not be whole: the server ended it with "${reason}".)`,
    )
  })

  test.for<[how: string, body: string | ModelReply]>([
    [
      'an error in the choice',
      events(delta({ content: 'It is due, unless' }), delta({}, 'error', { error: { code: 502 } })),
    ],
    [
      'an error in the choice that says to be whole',
      events(delta({ content: 'It is due, unless' }), delta({}, 'stop', { error: { code: 502 } })),
    ],
    ['a broken connection', { body: events(delta({ content: 'It is due, unless' })), end: 'cut' }],
    ['no word', events(delta({ content: 'It is due, unless' }), '[DONE]')],
    ['nothing at all', ''],
    ['nothing but its end', events('[DONE]')],
    [
      'half a call',
      events(
        delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'desk__add', arguments: '{"a":2' } }] }),
      ),
    ],
    [
      'a call before it failed',
      completion('abort', {
        tool_calls: [{ index: 0, id: 'c', function: { name: 'desk__add', arguments: '{"a":2,"b":3}' } }],
      }),
    ],
  ])('with %s is asked for again, then given up', async ([, body]) => {
    const again = await asked(body, speaking(answer))
    expect(again.text).toBe(answer)
    const { text } = await asked(body, body, body)
    expect(text).toMatch(
      /^I could not answer: m at \* (?:broke off its answer with|ended its answer before it began 3)/,
    )
  })

  test.for<readonly [what: string, rest: readonly (object | string)[], end?: 'cut']>([
    [
      'usage after it',
      [{ ...delta({}), choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } }],
    ],
    ['the end of the stream after it', ['[DONE]']],
    ['nothing after it', []],
    ['a broken connection after it', [], 'cut'],
  ])('with a whole call and %s calls', async ([, rest, end]) => {
    const call = { index: 0, id: 'c', function: { name: 'desk__add', arguments: '{"a":2,"b":3}' } }
    const body = events(delta({ tool_calls: [call] }), ...rest)
    const { text, requests } = await asked({ body, ...(end && { end }) }, speaking(answer))
    expect(text).toBe(answer)
    expect(requests[1]?.body.messages.at(-1)).toMatchObject({ role: 'tool', content: '5' })
  })
})

describe('a refusal is what the asker reads', () => {
  const sentence = 'I cannot help with that.'
  const parts = ['I cannot ', 'help with', ' that.']
  const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [] }
  const response = { id: 'r', created_at: 1, model: 'gpt-5', service_tier: null, output: [] }
  const usage = { input_tokens: 5, output_tokens: 7 }
  const streams: readonly (readonly [string, string, (baseURL: string) => AgentModel | undefined])[] = [
    ['in pieces', completion('stop', ...parts.map((refusal) => ({ refusal }))), () => undefined],
    ['beside its end', events(delta({ refusal: sentence }, 'stop')), () => undefined],
    [
      'in parts of the content',
      completion('stop', ...parts.map((refusal) => ({ content: [{ type: 'refusal', refusal }] }))),
      () => undefined,
    ],
    ['beside an empty content', completion('stop', { content: '', refusal: sentence }), () => undefined],
    [
      'after a content that is null',
      completion('stop', { content: null, refusal: sentence }),
      () => undefined,
    ],
    [
      "by OpenAI's package",
      completion('stop', ...parts.map((refusal) => ({ refusal }))),
      (baseURL) => createOpenAI({ baseURL, apiKey: 'k' }).chat('gpt-4o'),
    ],
    [
      'by Responses',
      [
        event({ type: 'response.created', response }),
        event({ type: 'response.output_item.added', output_index: 0, item }),
        ...parts.map((delta) =>
          event({
            type: 'response.refusal.delta',
            item_id: 'msg_1',
            output_index: 0,
            content_index: 0,
            delta,
          }),
        ),
        event({ type: 'response.output_item.done', output_index: 0, item }),
        event({ type: 'response.completed', response: { ...response, usage, incomplete_details: null } }),
      ].join(''),
      (baseURL) => createOpenAI({ baseURL, apiKey: 'k' }).responses('gpt-5'),
    ],
  ]
  test.for(streams)('%s', async ([, body, createModel]) => {
    const { baseURL } = await serveModel([{ body }])
    const model = createModel(baseURL)
    await using here = await stage([], model === undefined ? { model: 'm', baseURL } : { model })
    expect(await here.ask()).toBe(sentence)
  })
})

test.for<[where: string, body: string]>([
  ['reasoning_content', completion('stop', { reasoning_content: 'It is 5, RAW THOUGHT.' })],
  ['reasoning', completion('stop', { reasoning: 'It is 5, RAW THOUGHT.' }, { content: '' })],
  [
    'parts of the content',
    completion('stop', {
      content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'RAW THOUGHT' }] }],
    }),
  ],
])('an answer that stands in %s is told as a thought', async ([, body]) => {
  const { baseURL } = await serveModel([{ body }])
  await using here = await stage([], { model: 'm', baseURL })
  expect(await here.ask()).toBe(noAnswer('all_parsed', { provider: baseURL }))
  expect(JSON.stringify(here.heard.all)).not.toContain('RAW THOUGHT')
})

describe('a control token', () => {
  const tokens = [
    '<eos>',
    '<|im_end|>',
    '<end_of_turn>',
    '</s>',
    '<|eot_id|>',
    '<|endoftext|>',
    '<｜end▁of▁sentence｜>',
    '</s></s>',
    '<eos>\n<|im_end|>',
    '</longcat_s>',
    '<|assistant_end|>',
    '<|start_of_role|>assistant<|end_of_role|>',
    '<|header_start|>assistant<|header_end|>',
    '[|endofturn|]',
  ]

  test.for(tokens)('%s before a call is no reason, and does not go back', async (token) => {
    const call = { index: 0, id: 'c', function: { name: 'desk__add', arguments: '{"a":2,"b":3}' } }
    const { baseURL, requests } = await serveModel([
      { body: completion('tool_calls', ...inPieces(token), { tool_calls: [call] }) },
      saying(answer),
    ])
    await using here = await stage([], { model: 'm', baseURL })
    expect(await here.ask()).toBe(answer)
    expect(listStory(here.heard)).toEqual([
      'reasoning.start',
      'mcp.request add: undefined',
      'reasoning.conclusion',
      `chat: ${answer}`,
    ])
    expect(requests[1]?.body.messages[2]?.content ?? '').toBe('')
  })

  test.for(tokens)('%s at the end of an answer is not shown, live or in the end', async (token) => {
    const { baseURL } = await serveModel([{ body: completion('stop', ...inPieces(`${answer}${token}\n`)) }])
    await using here = await stage([], { model: 'm', baseURL })
    expect(await here.ask()).toBe(answer)
    expect(JSON.stringify(here.heard.all)).not.toContain(token)
  })
})

test.for([
  'analysisWe need RAW THOUGHT',
  'assistantanalysisthe user RAW THOUGHT',
  'analysisA.assistantcommentary to=functions.desk__add json{"a":2,"b":3}assistantanalysisRAW THOUGHT.',
])(
  'a thought of gpt-oss without marks is not shown where it is cut off, live or in the end: %s',
  async (text) => {
    const { baseURL } = await serveModel([{ body: speaking(text) }])
    await using here = await stage([], { model: 'm', baseURL, live: true })
    expect(await here.ask()).toBe(noAnswer('only_thought', {}))
    expect(JSON.stringify(here.heard.all)).not.toContain('RAW')
  },
)

test('thoughts stay unseen, wherever they stand and however they are spelled', async () => {
  await using here = await conversations(thoughts.map(({ text }) => text))
  for (const { name, answer } of thoughts) {
    const { text, heard } = await here.ask()
    expect(text.trim(), name).toBe(answer.trim())
    expect(JSON.stringify(heard.all), name).not.toContain('RAW THOUGHT')
  }
})
