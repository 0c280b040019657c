import { type Commit, type ModelClient, openTranscript } from '@meup/agent-sdk/transcript'
import { describe, expect, test, vi } from 'vitest'
import { verifies } from '../../../../test/verifies.js'
import { Chain } from '../../src/transcript/chain.js'
import { watchComplaints } from '../support/complaints.js'
import { deferred } from '../support/deferred.js'
import { contentTypes, scripted, types } from './scripted-client.js'

const thoughtful = { text: 'Yes.', reasoning: 'The tests pass' }
const contents = (commits: readonly Commit[]) => commits.map(({ content }) => content)

describe('a call', () => {
  verifies('T01', 'commits the reasoning that the response has, without being asked to', async () => {
    const transcript = openTranscript({ client: scripted([thoughtful]) })
    const response = await transcript.chat('Deploy?')
    expect(contents(transcript.commits)).toEqual([
      { content_type: 'user', text: 'Deploy?' },
      { content_type: 'reasoning', text: 'The tests pass', format: 'parsed' },
      { content_type: 'assistant', text: 'Yes.' },
    ])
    expect(response.reasoning).toBe('The tests pass')
    expect(transcript.commits[1]).toBe(response.reasoningCommit)
    expect(response.reasoningCommit?.metadata).toEqual({ source: 'reasoning' })
  })

  verifies('T02', 'puts reasoning between the question and the answer', async () => {
    const transcript = openTranscript({ client: scripted([thoughtful, { text: 'No thoughts' }]) })
    const first = transcript.user('Deploy?')
    const { reasoningCommit, commit } = await transcript.generate()
    expect([reasoningCommit?.parent, commit.parent]).toEqual([first.hash, reasoningCommit?.hash])
    const second = transcript.user('And now?')
    const plain = await transcript.generate()
    expect([plain.reasoningCommit, plain.commit.parent]).toEqual([null, second.hash])
  })

  verifies('T03', 'compiles, asks, reads, commits and records, in this order', async () => {
    const trace: string[] = []
    const seen = (step: string): void => void trace.push(step)
    const response = {
      get text() {
        seen('text')
        return 'Yes.'
      },
      get input_tokens() {
        seen('usage')
        return 9
      },
    }
    const client: ModelClient = {
      generate: () => {
        seen('call')
        return response
      },
      extractReasoning: () => {
        seen('reasoning')
        return 'Hm'
      },
    }
    const transcript = openTranscript({ client })
    transcript.user('Deploy?')
    const { log, add, record } = Chain.prototype
    vi.spyOn(Chain.prototype, 'log').mockImplementation(function (this: Chain, ...args) {
      seen('compile')
      return log.apply(this, args)
    })
    vi.spyOn(Chain.prototype, 'add').mockImplementation(function (this: Chain, commit) {
      seen(`commit ${commit.content.content_type}`)
      add.call(this, commit)
    })
    vi.spyOn(Chain.prototype, 'record').mockImplementation(function (this: Chain, hash, usage) {
      seen('record usage')
      record.call(this, hash, usage)
    })
    await transcript.generate()
    vi.restoreAllMocks()
    seen('return')
    // Repeated entries are removed, because `generate` may read a property of the response several times.
    expect([...new Set(trace)]).toEqual([
      'compile',
      'call',
      'text',
      'reasoning',
      'usage',
      'commit reasoning',
      'commit assistant',
      'record usage',
      'return',
    ])
    expect(transcript.log().map(({ commit, usage }) => [commit.content.content_type, usage])).toEqual([
      ['user', undefined],
      ['reasoning', undefined],
      ['assistant', { input: 9, output: null, reasoning: null }],
    ])
  })

  verifies('T04', 'commits no reasoning where the transcript was opened so; by hand it goes', async () => {
    const transcript = openTranscript({ client: scripted([thoughtful, thoughtful]), commitReasoning: false })
    const response = await transcript.chat('Deploy?')
    expect(response).toMatchObject({ reasoning: 'The tests pass', reasoningCommit: null })
    expect(contentTypes(transcript.commits)).toEqual(['user', 'assistant'])
    transcript.user('And now?')
    expect(transcript.reasoning('Let me see').content.text).toBe('Let me see')
    await transcript.generate({ reasoning: true })
    expect(contentTypes(transcript.commits).slice(2)).toEqual(['user', 'reasoning', 'reasoning', 'assistant'])
  })

  verifies('T05', 'commits no reasoning where this call is made so', async () => {
    const transcript = openTranscript({ client: scripted([thoughtful, thoughtful, thoughtful]) })
    const chat = await transcript.chat('hello', { reasoning: false })
    transcript.user('again')
    const generated = await transcript.generate({ reasoning: false })
    for (const response of [chat, generated]) {
      expect(response).toMatchObject({ reasoning: 'The tests pass', reasoningCommit: null })
    }
    expect(contentTypes(transcript.commits)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect((await transcript.chat('and again')).reasoningCommit).not.toBeNull()
  })

  verifies('T08', 'tells all there is to know of it', async () => {
    const line = { ...thoughtful, usage: { prompt_tokens: 12, completion_tokens: 30 }, tokens: 20 }
    const client = scripted([line, { text: 'Bare' }])
    const transcript = openTranscript({ client, config: { model: 'm', temperature: 1 } })
    const response = await transcript.chat('Deploy?', { config: { temperature: 0 } })
    const [user, reasoning, assistant] = transcript.commits
    expect(response).toEqual({
      text: 'Yes.',
      reasoning: 'The tests pass',
      reasoningCommit: reasoning,
      usage: { input: 12, output: 30, reasoning: 20 },
      commit: assistant,
      generationConfig: { model: 'm', temperature: 0 },
      prompt: [{ type: 'user', role: 'user', text: 'Deploy?', hash: user?.hash }],
      toolCalls: [],
      rawResponse: expect.objectContaining(line),
    })
    expect(client.asked[0]).toEqual({ messages: response.prompt, options: response.generationConfig })
    const bare = await transcript.chat('And now?')
    expect(bare).toMatchObject({ reasoning: null, reasoningCommit: null, usage: null, toolCalls: [] })
  })
})

describe('a client', () => {
  verifies('T09', 'that looks for no reasoning has none, and nobody complains', async () => {
    const complaints = watchComplaints()
    const client: ModelClient = { generate: () => ({ text: 'Yes.', reasoning: 'hidden in there' }) }
    const transcript = openTranscript({ client })
    expect(await transcript.chat('Deploy?')).toMatchObject({ text: 'Yes.', reasoning: null })
    expect(complaints()).toEqual([])
    expect(contentTypes(transcript.commits)).toEqual(['user', 'assistant'])
  })

  verifies('T10', 'says text and format, or text alone, or nothing', async () => {
    const found = [['Hm', 'think_tags'], 'Hm', null, undefined, ''] as const
    const responses = [...found]
    const client: ModelClient = { generate: () => 'Yes.', extractReasoning: () => responses.shift() }
    const transcript = openTranscript({ client })
    const formats: unknown[] = []
    for (const _ of found) {
      formats.push((await transcript.chat('Deploy?')).reasoningCommit?.content.format ?? null)
    }
    expect(formats).toEqual(['think_tags', 'parsed', null, null, null])
  })

  test('that throws, now or later, leaves everything as it was, and can be asked again', async () => {
    const answers = [
      () => {
        throw new Error('no network')
      },
      () => Promise.reject(new Error('overloaded')),
      () => 'Yes.',
    ]
    const transcript = openTranscript({ client: { generate: () => answers.shift()?.() } })
    await expect(transcript.chat('Deploy?')).rejects.toThrow('no network')
    await expect(transcript.generate()).rejects.toThrow('overloaded')
    expect(contentTypes(transcript.commits)).toEqual(['user'])
    expect((await transcript.generate()).text).toBe('Yes.')
  })

  test.for<[string, unknown]>([
    ['nothing', undefined],
    ['a number', 7],
    ['something unknown', { answer: 'Yes.' }],
    ['calls that are none', { text: '', toolCalls: [{ name: 1 }] }],
  ])('that gives back %s commits nothing', async ([, response]) => {
    const transcript = openTranscript({
      client: { generate: () => response, extractReasoning: () => 'thought' },
    })
    await expect(transcript.chat('Deploy?')).rejects.toMatchObject({
      name: 'TranscriptError',
      code: expect.stringMatching(/^(unreadable_response|invalid_content)$/),
    })
    expect(contentTypes(transcript.commits)).toEqual(['user'])
  })

  test('is missing: nothing is committed', async () => {
    const transcript = openTranscript()
    await expect(transcript.chat('Deploy?')).rejects.toMatchObject({ code: 'no_client' })
    expect(transcript.commits).toEqual([])
  })
})

test('an answer that is only reasoning can be asked for again; the next prompt has no empty message', async () => {
  const client = scripted([{ reasoning: 'Thinking until the tokens ran out' }, thoughtful])
  const transcript = openTranscript({ client })
  const cut = await transcript.chat('Deploy?')
  expect(cut).toMatchObject({ text: '', reasoning: 'Thinking until the tokens ran out' })
  expect(contentTypes(transcript.commits)).toEqual(['user', 'reasoning', 'assistant'])
  expect((await transcript.generate()).text).toBe('Yes.')
  expect(types(client.asked[1]?.messages ?? [])).toEqual(['user'])
})

test('what has no question, or one that is answered, is not put to the model', async () => {
  const client = scripted([thoughtful])
  const transcript = openTranscript({ client })
  await expect(transcript.generate()).rejects.toMatchObject({ code: 'nothing_to_answer' })
  const { commit } = await transcript.chat('Deploy?')
  await expect(transcript.generate()).rejects.toMatchObject({ code: 'nothing_to_answer' })
  transcript.annotate(commit.parent ?? '', 'pinned')
  await expect(transcript.generate()).rejects.toMatchObject({ code: 'nothing_to_answer' })
  expect(client.asked).toHaveLength(1)
})

test('while the model is being asked nothing else is committed, so that its answer follows the question', async () => {
  const answer = deferred<string>()
  const transcript = openTranscript({ client: { generate: () => answer.promise } })
  const { hash } = transcript.user('Deploy?')
  const asking = transcript.generate()
  expect(() => transcript.user('Wait')).toThrow(expect.objectContaining({ code: 'busy' }))
  await expect(transcript.generate()).rejects.toMatchObject({ code: 'busy' })
  answer.resolve('Yes.')
  expect((await asking).commit.parent).toBe(hash)
  transcript.user('Thanks')
})
