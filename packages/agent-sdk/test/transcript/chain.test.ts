import { createHash } from 'node:crypto'
import {
  type Commit,
  openTranscript,
  Priority,
  type TranscriptErrorCode,
  type TranscriptRecord,
  verifyCommits,
} from '@meup/agent-sdk/transcript'
import { describe, expect, test } from 'vitest'
import { times } from '../../../../test/support/soak.js'
import { conversation, json, refusal } from './conversation.js'
import { types } from './scripted-client.js'

describe('the chain', () => {
  test('links each commit to the one before, and covers all that a commit says', () => {
    const { commits, head } = conversation()
    expect(commits.map(({ parent }) => parent)).toEqual([
      null,
      ...commits.slice(0, -1).map(({ hash }) => hash),
    ])
    expect(head).toBe(commits.at(-1)?.hash)
    const hashes = [
      openTranscript().user('a'),
      openTranscript().user('b'),
      openTranscript().reasoning('a'),
      openTranscript().user('a', { from: 'ana' }),
      openTranscript().user('a', { message: 'b' }),
      openTranscript().user('a', { metadata: { b: 1 } }),
      conversation().user('a'),
    ].map(({ hash }) => hash)
    expect(new Set(hashes).size).toBe(hashes.length)
    expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(openTranscript().user('a').hash).toBe(hashes[0])
    const json = '{"content":{"content_type":"user","text":"a"},"message":"a","parent":null}'
    expect(hashes[0]).toBe(createHash('sha256').update(json).digest('hex'))
  })

  test('cannot be changed in place, nor through what was handed in', () => {
    const toolCalls = [{ id: 'c1', name: 'read', arguments: { path: 'a' } }]
    const transcript = openTranscript()
    transcript.assistant('', { toolCalls })
    toolCalls[0] = { id: 'c2', name: 'write', arguments: { path: 'b' } }
    const [commit] = transcript.commits as [Commit]
    expect(commit.content).toMatchObject({ toolCalls: [{ id: 'c1', arguments: { path: 'a' } }] })
    expect(() => Object.assign(commit.content, { text: 'other' })).toThrow(TypeError)
    expect(() =>
      Object.assign((commit.content as { toolCalls: object[] }).toolCalls[0] ?? {}, { id: 'x' }),
    ).toThrow(TypeError)
    expect(transcript.verify()).toEqual({ ok: true, commits: 1, head: transcript.head })
  })

  test.for<[string, (commits: Commit[]) => Commit[], object]>([
    [
      'a text',
      ([a, b, ...rest]) => [a, { ...b, content: { ...b?.content, text: 'x' } }, ...rest] as Commit[],
      { at: 1, problem: 'hash' },
    ],
    [
      'a type',
      ([a, b, ...rest]) =>
        [a, { ...b, content: { ...b?.content, content_type: 'user' } }, ...rest] as Commit[],
      { at: 1, problem: 'hash' },
    ],
    [
      'a line about it',
      ([a, ...rest]) => [{ ...a, message: 'x' }, ...rest] as Commit[],
      { at: 0, problem: 'hash' },
    ],
    [
      'a field more',
      ([a, ...rest]) => [{ ...a, note: 'x' }, ...rest] as Commit[],
      { at: 0, problem: 'hash' },
    ],
    ['a commit less', ([a, _, ...rest]) => [a, ...rest] as Commit[], { at: 1, problem: 'parent' }],
    ['the first less', ([_, ...rest]) => rest, { at: 0, problem: 'parent' }],
    ['two swapped', ([a, b, c, ...rest]) => [a, c, b, ...rest] as Commit[], { at: 1, problem: 'parent' }],
    ['the last less', (all) => all.slice(0, -1), { at: 4, problem: 'head' }],
    ['all less', () => [], { at: 0, problem: 'head' }],
  ])('tells that %s was changed', ([, tamper, verdict]) => {
    const { commits, head } = conversation()
    expect(verifyCommits(json(commits), head)).toEqual({ ok: true, commits: 5, head })
    const tampered = tamper([...json(commits)])
    expect(verifyCommits(tampered, head)).toEqual({ ok: false, ...verdict })
  })

  test('is the same whatever order the members of its JSON are in', () => {
    const { commits, head } = conversation()
    const reversed = (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null) return value
      if (Array.isArray(value)) return value.map(reversed)
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, each]) => [key, reversed(each)]),
      )
    }
    expect(verifyCommits(reversed(commits) as Commit[], head)).toMatchObject({ ok: true })
  })
})

describe('a record', () => {
  test('goes on where it ended, with all that was noted', () => {
    const transcript = conversation()
    transcript.annotate(transcript.commits[1]?.hash ?? '', Priority.PINNED, 'decisive')
    const again = openTranscript({ record: json(transcript.toJSON()) })
    expect(again.log()).toEqual(transcript.log())
    expect(again.compile()).toEqual(transcript.compile())
    expect([again.user('Next').hash, again.verify().ok]).toEqual([transcript.user('Next').hash, true])
    expect(() => Object.assign(again.commits[0] ?? {}, { message: 'x' })).toThrow(TypeError)
  })

  test('of an open call still waits for its result', () => {
    const transcript = openTranscript()
    transcript.assistant('', { toolCalls: [{ id: 'c1', name: 'read', arguments: {} }] })
    const again = openTranscript({ record: json(transcript.toJSON()) })
    expect(() => again.user('Hello?')).toThrow(refusal('missing_results', { calls: ['c1 (read)'] }))
  })

  test.for<[string, (record: TranscriptRecord) => unknown, TranscriptErrorCode?]>([
    ['nothing', () => null],
    ['a note on another commit', (all) => ({ ...all, notes: [{ hash: '0'.repeat(64) }] }), 'unknown_note'],
    ['content of a type that there is not', forged],
    ['a text', () => 'x'],
    ['no commits', ({ commits: _, ...rest }) => rest],
    [
      'a changed text',
      (all) => json({ ...all, commits: all.commits.map((each) => ({ ...each, message: 'x' })) }),
      'changed_record',
    ],
    ['a cut end', (all) => ({ ...all, commits: all.commits.slice(0, -1) }), 'changed_record'],
    [
      'an unknown priority',
      (all) => ({ ...all, notes: [{ hash: all.head, annotation: { priority: 'top' } }] }),
    ],
  ])('that has %s is refused', ([, spoil, code = 'invalid_record']) => {
    const spoiled = spoil(conversation().toJSON()) as TranscriptRecord
    expect(() => openTranscript({ record: spoiled })).toThrow(refusal(code))
  })
})

/** A record with a commit of invalid content, but correct hashes. */
function forged(): object {
  const body = { content: { text: 'O', type: 'poem' }, message: 'O', parent: null }
  const hash = createHash('sha256').update(JSON.stringify(body)).digest('hex')
  return { head: hash, commits: [{ hash, ...body }], notes: [] }
}

test('many commits are verified, compiled and read again', () => {
  const turns = times(250, 2500)
  const transcript = openTranscript()
  for (let turn = 0; turn < turns; turn++) {
    transcript.user(`question ${turn}`)
    transcript.reasoning(`thought ${turn}`)
    transcript.assistant('', { toolCalls: [{ id: 'c', name: 'read', arguments: { turn } }] })
    transcript.tool('c', `result ${turn}`)
  }
  expect(transcript.verify()).toMatchObject({ ok: true, commits: turns * 4 })
  const prompt = transcript.compile({ includeReasoning: true })
  expect(types(prompt).slice(-4)).toEqual(['user', 'reasoning', 'assistant', 'tool'])
  expect(prompt).toHaveLength(turns * 4)
  expect(openTranscript({ record: transcript.toJSON() }).log({ type: 'reasoning' })).toHaveLength(turns)
})
