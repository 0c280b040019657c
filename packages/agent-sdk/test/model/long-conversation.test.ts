import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TranscriptFile } from '@meup/agent-sdk/transcript/file'
import { Kind } from '@meup/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  type ChatBody,
  calling,
  failing,
  type ModelReply,
  saying,
  serveModel,
} from '../../../../test/support/model-server.js'
import { listStory, stage } from './stage.js'

/** Estimates tokens as the server of this test does. */
const countTokens = ({ messages, tools }: ChatBody): number =>
  Math.ceil(JSON.stringify([messages, tools]).length / 4)

const maxTokens = 8192

/** A server of a model with a context of 8,192 tokens. `explain`: its response to longer requests. */
const serveSmall = (
  explain: (tokens: number) => ModelReply,
  reply: (body: ChatBody) => ModelReply = () => saying('Noted.'),
) =>
  serveModel((body) => {
    const tokens = countTokens(body)
    return tokens > maxTokens ? explain(tokens) : reply(body)
  })

const refusals: readonly [name: string, explain: (tokens: number) => ModelReply][] = [
  [
    'OpenAI',
    (tokens) =>
      failing(
        400,
        `This model's maximum context length is 8192 tokens. However, your messages resulted in ${tokens} tokens.`,
      ),
  ],
  ['Anthropic', (tokens) => failing(400, `prompt is too long: ${tokens} tokens > 8192 maximum`)],
  [
    'Google',
    (tokens) =>
      failing(400, `The input token count (${tokens}) exceeds the maximum number of tokens allowed (8192).`),
  ],
  ['llama.cpp', () => failing(400, 'the request exceeds the available context size, try increasing it')],
  [
    'Groq',
    () => failing(413, 'Request too large for model m. Please reduce your message size and try again.'),
  ],
  [
    'LM Studio',
    () => ({
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        error: 'The number of tokens to keep from the initial prompt is greater than the context length',
      }),
    }),
  ],
  ['a template', () => failing(500, 'context window exceeds limit')],
]

describe.for(refusals)('a conversation that is too long for a server like %s', ([, explain]) => {
  test('goes on without its oldest messages: the asker is told, and it is refused once', async () => {
    const refused: number[] = []
    const { baseURL, requests } = await serveSmall((tokens) => {
      refused.push(tokens)
      return explain(tokens)
    })
    await using here = await stage([], { model: 'm', baseURL, settings: { maxRetries: 0 } })
    for (const letter of ['a', 'b', 'c', 'd'])
      expect(await here.ask(`${letter}: ${letter.repeat(11_000)}`)).toBe('Noted.')
    const first = refused.length
    expect(first).toBeGreaterThan(0)
    expect(await here.ask('And now?')).toBe('Noted.')
    expect(refused).toHaveLength(first)
    const said = listStory(here.heard)
    expect(said).toContain(
      `reasoning.thought: The oldest messages are left out: m at ${baseURL} takes no longer conversation.`,
    )
    const [, begin] = requests.at(-1)?.body.messages ?? []
    expect(begin?.content).toMatch(/^\(What was said before this is not shown\.\)\n\nana: /)
    expect(JSON.stringify(requests.at(-1)?.body)).toContain('ana: d: ddd')
    expect(JSON.stringify(requests.at(-1)?.body)).not.toContain('aaaa')
    await here.ana.send({ kind: Kind.participantClear, to: ['bot'] })
    await here.ask('Now?')
    expect(requests.at(-1)?.body.messages).toHaveLength(2)
  })
})

const [openai = () => saying('')] = refusals.map(([, explain]) => explain)

test('a turn that grows too long goes on without its oldest steps; the question stays', async () => {
  const { baseURL, requests } = await serveSmall(openai, ({ messages }) => {
    const rounds = messages.filter(({ role }) => role === 'tool').length
    return rounds < 3 ? calling('desk__read', { page: messages.length }) : saying('Read.')
  })
  await using here = await stage([], { model: 'm', baseURL, limits: { steps: 12 } })
  here.desk.tool('read', {}, () => 'x'.repeat(9000))
  expect(await here.ask('Read it all')).toMatch(/^Read\.$|after 12 steps/)
  for (const { body } of requests) {
    expect(JSON.stringify(body.messages)).toContain('ana: Read it all')
    const [calls, results] = [
      body.messages.filter((each) => 'tool_calls' in each),
      body.messages.filter(({ role }) => role === 'tool'),
    ]
    expect(calls).toHaveLength(results.length)
  }
})

test('what is kept of such a turn has the messages that were sent, and no prompt that was refused', async () => {
  const transcripts = mkdtempSync(join(tmpdir(), 'meup-long-'))
  const taken: number[] = []
  const { baseURL } = await serveSmall(openai, ({ messages }) => {
    const step = taken.push(messages.length)
    return step < 8 ? calling('desk__read', { page: step }) : saying('Read.')
  })
  await using here = await stage([], { model: 'm', baseURL, transcripts })
  here.desk.tool('read', {}, () => 'x'.repeat(9000))
  expect(await here.ask('Read it all')).toBe('Read.')
  const file = await TranscriptFile.read(join(transcripts, 'bot.db'))
  onTestFinished(() => file.close())
  const prompts = file
    .entries()
    .flatMap(({ commit: { content } }) => (content.content_type === 'prompt' ? [content] : []))
  expect(prompts.map(({ earlier, messages }) => earlier + messages.length)).toEqual(taken)
  expect(prompts.some(({ earlier }, step) => earlier < (taken[step - 1] ?? 0))).toBe(true)
})

test('of a result that is too long alone the middle is left out', async () => {
  const { baseURL, requests } = await serveSmall(openai, ({ messages }) =>
    messages.at(-1)?.role === 'tool' ? saying('Read.') : calling('desk__read', {}),
  )
  await using here = await stage([], { model: 'm', baseURL })
  here.desk.tool('read', {}, () => `first ${'x '.repeat(30_000)} last`)
  expect(await here.ask()).toBe('Read.')
  expect(requests.at(-1)?.body.messages.at(-1)?.content).toMatch(/^first x.*characters left out.*x {2}last$/s)
})

test('a question that is too long alone is told so', async () => {
  const { baseURL, requests } = await serveSmall(openai)
  await using here = await stage([], { model: 'm', baseURL })
  expect(await here.ask('y '.repeat(25_000))).toMatch(
    /answered 400: This model's maximum context length is 8192 tokens\. .*\. Ask for less, or clear its memory\.$/,
  )
  expect(requests.length).toBeLessThan(4)
  expect(await here.ask('Short')).toBe('Noted.')
})
