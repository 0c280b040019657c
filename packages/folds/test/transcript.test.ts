import { createTranscript } from '@meup/folds'
import { describe, expect, test } from 'vitest'
import { chat, type Fields, feed } from './support/log.js'

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
