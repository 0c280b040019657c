import { contentHints, openTranscript } from '@meup/agent-sdk/transcript'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../../test/verifies.js'
import { conversation, json, refusal } from './conversation.js'

describe('a reasoning commit', () => {
  verifies('T06', 'has a text and one of four formats, parsed by default, and is the same as JSON', () => {
    const formats = ['parsed', 'raw', 'think_tags', 'anthropic'] as const
    for (const format of formats) {
      const { content } = openTranscript().reasoning('Hm', { format })
      expect(json(content)).toEqual({ content_type: 'reasoning', text: 'Hm', format })
    }
    expect(openTranscript().reasoning('Hm').content.format).toBe('parsed')
    const other = 'reasoning_content' as 'parsed'
    const transcript = openTranscript()
    expect(() => transcript.reasoning('Hm', { format: other })).toThrow(
      refusal('invalid_content', { path: 'reasoning/format' }),
    )
    expect(() => transcript.reasoning(7 as unknown as string)).toThrow(
      refusal('invalid_content', { path: 'reasoning/text' }),
    )
    expect(transcript.commits).toEqual([])
  })

  verifies('T06', 'is kept by the record of a transcript, which takes no other form', () => {
    const transcript = openTranscript()
    transcript.reasoning('Hm', { format: 'think_tags' })
    const record = json(transcript.toJSON())
    expect(JSON.stringify(record.commits[0]?.content)).toBe(
      '{"content_type":"reasoning","text":"Hm","format":"think_tags"}',
    )
    expect(openTranscript({ record }).toJSON()).toEqual(record)
    expect(() =>
      openTranscript({
        record: {
          ...record,
          commits: [{ ...record.commits[0], content: { type: 'reasoning', text: 'Hm' } }],
        } as never,
      }),
    ).toThrow(refusal('invalid_record', { path: 'record/commits/0/content/content_type' }))
  })

  verifies('T07', 'is skipped by default, and said by the assistant', () => {
    expect(contentHints.reasoning).toEqual({
      default_priority: 'skip',
      default_role: 'assistant',
      compression_priority: 40,
    })
    const transcript = conversation()
    expect(transcript.log().map(({ priority }) => priority)).toEqual([
      'normal',
      'skip',
      'normal',
      'normal',
      'normal',
    ])
    expect(transcript.compile({ includeReasoning: true }).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'assistant',
      'tool',
      'assistant',
    ])
  })

  verifies('T18', 'is made by hand as the others are, with a line about it that its text gives', () => {
    const transcript = openTranscript()
    const user = transcript.user('Deploy?')
    const long = `Let me\nsee: ${'the tests, '.repeat(20)}`
    const thought = transcript.reasoning(long)
    expect(thought).toMatchObject({ parent: user.hash, content: { text: long, format: 'parsed' } })
    expect(thought.message).toMatch(/^Let me see: the tests, .{48}…$/)
    const options = { format: 'raw', message: 'weighing it', metadata: { step: 2 } } as const
    expect(transcript.reasoning('Hm', options)).toMatchObject({
      parent: thought.hash,
      content: { text: 'Hm', format: 'raw' },
      message: 'weighing it',
      metadata: { step: 2 },
    })
    const answer = transcript.assistant('Yes.', { message: 'done', metadata: { step: 3 } })
    expect(answer).toMatchObject({ message: 'done', metadata: { step: 3 } })
  })
})

describe('order', () => {
  test('reasoning does not come after the answer that it led to', () => {
    const transcript = conversation()
    expect(() => transcript.reasoning('too late')).toThrow(refusal('late_reasoning'))
    transcript.user('Next')
    transcript.reasoning('in time')
  })

  test('calls get their results, each once, before anything else is said', async () => {
    const transcript = openTranscript({ client: { generate: () => expect.unreachable() } })
    transcript.user('What fails?')
    const calls = ['c1', 'c2'].map((id) => ({ id, name: 'read', arguments: {} }))
    expect(() => transcript.tool('c1', 'too early')).toThrow(refusal('unexpected_result', { callId: 'c1' }))
    transcript.assistant('Looking', { toolCalls: calls })
    expect(transcript.tool('c2', 'second', { isError: true }).content).toEqual({
      content_type: 'tool',
      callId: 'c2',
      name: 'read',
      text: 'second',
      isError: true,
    })
    const waiting = refusal('missing_results', { calls: ['c1 (read)'] })
    expect(() => transcript.user('Hello?')).toThrow(waiting)
    expect(() => transcript.reasoning('Hm')).toThrow(waiting)
    expect(() => transcript.assistant('So')).toThrow(waiting)
    await expect(transcript.generate()).rejects.toEqual(waiting)
    expect(() => transcript.tool('c2', 'again')).toThrow(refusal('unexpected_result', { callId: 'c2' }))
    expect(() => transcript.tool('c3', 'unknown')).toThrow(refusal('unexpected_result', { callId: 'c3' }))
    transcript.tool('c1', 'first')
    transcript.assistant('So')
  })
})

describe('bad input', () => {
  test('an annotation of an unknown commit, or none at all, is refused', () => {
    const transcript = conversation()
    expect(() => transcript.annotate('0'.repeat(64), 'skip')).toThrow(
      refusal('unknown_commit', { hash: '0'.repeat(64) }),
    )
    expect(() => transcript.annotate(transcript.head ?? '', 'top' as 'skip')).toThrow(
      refusal('invalid_content'),
    )
    expect(() => transcript.log({ after: 'nowhere' })).toThrow(refusal('unknown_commit', { hash: 'nowhere' }))
    expect(transcript.log().every(({ annotation }) => annotation === undefined)).toBe(true)
  })

  test('what JSON cannot say is refused; bytes become base64', () => {
    const transcript = openTranscript()
    expect(() => transcript.user('a', { metadata: { count: 1n } })).toThrow(refusal('not_json'))
    const circle: Record<string, unknown> = {}
    circle.self = circle
    expect(() => transcript.user('a', { metadata: circle })).toThrow(refusal('not_json'))
    expect(transcript.commits).toEqual([])
    const metadata = { bytes: new Uint8Array([0, 255]), buffer: Buffer.from('hi') }
    expect(transcript.user('a', { metadata }).metadata).toEqual({ bytes: 'AP8=', buffer: 'aGk=' })
  })

  test('a transcript without commits has no prompt, no log and no head, and is whole', () => {
    const transcript = openTranscript()
    expect([transcript.compile(), transcript.log(), transcript.head]).toEqual([[], [], null])
    expect(transcript.verify()).toEqual({ ok: true, commits: 0, head: null })
    expect(openTranscript({ record: json(transcript.toJSON()) }).commits).toEqual([])
  })
})
