import { createPresenceFold, createTranscript } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { chat, type Fields, feed, toLog } from './support/log.js'

const presence = (event: string, id: string, more: object = {}): Fields => ({
  kind: 'system.presence',
  from: 'system:gateway',
  payload: { event, participant: { id, ...more } },
})
const configured = (...ids: string[]): Fields => ({
  kind: 'system.space',
  from: 'system:gateway',
  payload: {
    event: 'configured',
    participants: Object.fromEntries(ids.map((id) => [id, { kind: 'agent', capabilities: ['chat'] }])),
  },
})

describe('who is there', () => {
  const people = (...log: Fields[]) => {
    const fold = createPresenceFold()
    feed(fold, log)
    return fold
      .all()
      .map(({ id, status, capabilities, since }) => [id, status, capabilities, since?.slice(17, 19)])
  }

  test('comes, changes and leaves', () => {
    const log = [configured('ana', 'ben'), presence('join', 'ben', { capabilities: ['*'] })]
    expect(people(...log)).toEqual([
      ['ana', 'away', ['chat'], undefined],
      ['ben', 'present', ['*'], '01'],
    ])
    expect(people(...log, presence('update', 'ben', { capabilities: ['mcp.*'] }))[1]).toEqual([
      'ben',
      'present',
      ['mcp.*'],
      '01',
    ])
    expect(people(...log, presence('leave', 'ben'))[1]).toEqual(['ben', 'away', ['*'], '02'])
  })

  test('a guest is forgotten when it leaves, and those who are no longer configured at once', () => {
    const fold = createPresenceFold()
    const changes = feed(fold, [
      presence('join', 'guest-1'),
      presence('leave', 'guest-1'),
      presence('leave', 'guest-1'),
      configured('ana'),
      configured('ben'),
    ])
    expect(changes.map((changed) => changed.map(({ id, status }) => [id, status]))).toEqual([
      [['guest-1', 'present']],
      [['guest-1', 'away']],
      [],
      [['ana', 'away']],
      [
        ['ana', 'away'],
        ['ben', 'away'],
      ],
    ])
    expect(fold.all().map(({ id }) => id)).toEqual(['ben'])
    const open = createPresenceFold()
    feed(open, [presence('join', 'guest-2'), configured('ana')])
    expect(open.all().map(({ id }) => id)).toEqual(['guest-2', 'ana'])
  })

  test('is told by a welcome as well', () => {
    const participants = [
      { id: 'ana', capabilities: [], status: 'present' },
      { id: 'ben', capabilities: [], status: 'away' },
    ]
    const welcome = toLog([{ kind: 'system.welcome', from: 'system:gateway', payload: { participants } }])
    const { seq: _, ...frame } = welcome[0] as Envelope
    const fold = createPresenceFold()
    feed(fold, [presence('join', 'ana'), presence('join', 'guest-1')])
    fold.apply(frame)
    expect(fold.all()).toMatchObject([
      { id: 'ana', status: 'present', since: '2026-02-21T10:00:00.000Z' },
      { id: 'ben', status: 'away', since: null },
    ])
    expect(fold.seq).toBe(2)
  })
})

describe('the main conversation', () => {
  const acknowledge = (from: string): Fields => ({ kind: 'chat.acknowledge', from, correlationId: 'm' })
  const takeBack = (from: string): Fields => ({ kind: 'chat.cancel', from, correlationId: 'm' })

  test('is what is said outside contexts, in its order', () => {
    const transcript = createTranscript()
    feed(transcript, [
      chat('ana', 'hello', { id: 'm' }),
      chat('ben', 'aside', { context: 'r' }),
      chat('ben', '**hi**', { correlationId: 'm', payload: { format: 'markdown' } }),
      acknowledge('cleo'),
      acknowledge('cleo'),
    ])
    expect(transcript.messages()).toMatchObject([
      {
        source: { id: 'm', from: 'ana' },
        text: 'hello',
        format: 'plain',
        acknowledgedBy: ['cleo'],
        isTakenBack: false,
      },
      { text: '**hi**', format: 'markdown', answers: ['m'] },
    ])
  })

  test('shows what its sender took back', () => {
    const transcript = createTranscript()
    const changes = feed(transcript, [chat('ana', 'hello', { id: 'm' }), takeBack('ben'), takeBack('ana')])
    expect(changes.map((changed) => changed.map(({ isTakenBack }) => isTakenBack))).toEqual([
      [false],
      [],
      [true],
    ])
  })

  test('keeps the latest', () => {
    const transcript = createTranscript(3 * 501)
    feed(
      transcript,
      Array.from({ length: 10 }, (_, index) => chat('ana', `${index}`)),
    )
    expect(transcript.messages().map(({ text }) => text)).toEqual(['7', '8', '9'])
    const long = createTranscript(2 * 900)
    feed(
      long,
      ['a', 'b', 'c'].map((text) => chat('ana', text.repeat(400))),
    )
    expect(long.messages().map(({ text }) => text[0])).toEqual(['b', 'c'])
  })
})
