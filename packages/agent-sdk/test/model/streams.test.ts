import { describe, expect, test } from 'vitest'
import {
  calling,
  completion,
  delta,
  events,
  failing,
  type ModelReply,
  saying,
  serveModel,
} from '../../../../test/support/model-server.js'
import { getToolCalls, listStory, stage } from './stage.js'

/** Returns the answer, with `*` in place of model and address, and all public envelopes. */
async function askAt(reply: ModelReply, path = '/v1') {
  const server = await serveModel(() => reply)
  const baseURL = server.baseURL.replace('/v1', path)
  await using here = await stage([], { model: 'm', baseURL, settings: { maxRetries: 0 } })
  const answer = await here.ask()
  return {
    text: answer.replaceAll(server.baseURL.replace('/v1', ''), '*').replace('I could not answer: m at ', ''),
    all: JSON.stringify(here.heard.all),
  }
}

const typed = (type: string, body: ModelReply['body']): ModelReply => ({
  headers: { 'content-type': type },
  body,
})
const fine = completion('stop', { content: 'It is 5.' })
const whole = JSON.stringify({
  id: 'c',
  choices: [{ index: 0, message: { role: 'assistant', content: 'It is 5.' }, finish_reason: 'stop' }],
})

test.each<[name: string, reply: ModelReply]>([
  ['a stream by the name of a text', typed('text/plain', fine)],
  ['a stream by the name of JSON', typed('application/json', fine)],
  ['a stream without a name', typed('', fine)],
  [
    'a stream of bytes, after a mark and comments',
    typed('application/octet-stream', [`\ufeff: hi\n\n`, fine]),
  ],
  ['a stream of single characters', { body: [...fine] }],
  ['a stream with an id and a time first', { body: `id: 1\nretry: 5\n\n${fine}` }],
  ['a stream that ends, and stays open', { body: fine, end: 'open' }],
  ['a stream that ends, and goes on', { body: `${fine}data: {"broken\n\n` }],
  ['a stream of which the end has no line break', { body: fine.trimEnd() }],
  ['a whole answer by the name of a stream', { body: whole }],
  ['a whole answer by the name of a text', typed('text/plain', `\n ${whole}`)],
  [
    'pieces that say that they are no error',
    {
      body: events(
        { ...delta({ content: 'It is ' }), error: null },
        { error: null, ...delta({ content: '5.' }, 'stop') },
        '[DONE]',
      ),
    },
  ],
])('%s is read', async (_, reply) => {
  expect((await askAt(reply)).text).toBe('It is 5.')
})

test('what a model says of errors stays as it is', async () => {
  const said = 'The body is {"error": null}, or {"error":null}.'
  expect((await askAt(saying(said))).text).toBe(said)
})

const hint = 'Try the baseURL */v1.'
const page = '<!doctype html><title>Hi</title>'
test.each<[name: string, reply: ModelReply, text: string]>([
  ['a page by the name of a text', typed('text/plain', page), `*/ answered with a web page: Hi. ${hint}`],
  ['a page without a name', typed('', page), `*/ answered with a web page: Hi. ${hint}`],
  ['a page by the name of a stream', { body: page }, `*/ answered with a web page: Hi. ${hint}`],
  ['a word', typed('text/plain', 'Ollama is running'), `*/ gave no answer. ${hint}`],
  [
    'an error by the name of a stream',
    { body: '{"error":{"message":"no"}}\n' },
    `*/ gave no answer: no. ${hint}`,
  ],
  ['null', typed('application/json', 'null'), `*/ gave no answer. ${hint}`],
  ['a list', typed('application/json', '[]'), `*/ gave no answer. ${hint}`],
  ['an answer without a message', { body: '{"choices":[{"message":null}]}' }, `*/ gave no answer. ${hint}`],
  ['nothing', typed('text/plain', ' \n'), `*/ ended its answer before it began. ${hint}`],
])('%s is none: the address may be wrong', async (_, reply, text) => {
  expect((await askAt(reply, '')).text).toBe(text)
})

test.each<[name: string, reply: ModelReply]>([
  ['half of a whole answer', typed('application/json', whole.replace('It is 5.', 'RAW').slice(0, -9))],
  ['lines of JSON', typed('application/x-ndjson', '{"message":{"thinking":"RAW"}}\n{"done":true}\n')],
  ['a text', typed('text/plain', 'RAW, so it is 5.')],
  ['a text as JSON', typed('application/json', '"RAW, so it is 5."')],
])('nothing is quoted of %s: it may be a thought', async (_, reply) => {
  const { text, all } = await askAt(reply)
  expect(text).toBe('*/v1 gave no answer')
  expect(all).not.toContain('RAW')
})

describe('half of a character', () => {
  test('in an answer, or in two pieces of it', async () => {
    expect((await askAt(saying('It is \ud83d'))).text).toBe('It is \ufffd')
    const pieces = completion('stop', { content: 'It is \ud83d' }, { content: '\ude00.' })
    expect((await askAt({ body: pieces })).text).toBe('It is 😀.')
  })

  test('in what a server says when it fails', async () => {
    expect((await askAt(failing(400, 'no \ud83d'))).text).toBe('*/v1 answered 400: no \ufffd')
  })

  test('in thoughts, in a reason and in arguments, beside numbers that are kept', async () => {
    const { baseURL } = await serveModel([
      calling(
        'desk__add',
        '{"_rationale":"for \\ud83d","a":2512292042121000001,"b":3,"c":"\\ud83d \\ud83d\\ude00"}',
        { reasoning_content: 'Hm \ud83d' },
        { content: 'Let me \ud83d' },
      ),
      saying('5'),
    ])
    await using here = await stage([], { model: 'm', baseURL, reasoningIsSummary: true })
    expect(await here.ask()).toBe('5')
    expect(listStory(here.heard).slice(1, 4)).toEqual([
      'reasoning.thought: Hm \ufffd',
      'reasoning.thought: Let me \ufffd',
      'mcp.request add: for \ufffd',
    ])
    expect(getToolCalls(here)).toMatchObject([{ arguments: { b: 3, c: '\ufffd 😀' } }])
  })
})
