import { LiveAnswers } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { cancel, chat, conclusion, type Fields, start, toLog } from './support/log.js'

const delta = (index: number, text: string, more: Partial<Envelope> = {}): Fields => ({
  kind: 'chat.delta',
  from: 'bot',
  correlationId: 'q',
  payload: { index, text },
  ...more,
})
const left = (id: string): Fields => ({
  kind: 'system.presence',
  from: 'system:gateway',
  payload: { event: 'leave', participant: { id } },
})
const answer = (more: Partial<Envelope> = {}): Fields =>
  chat('bot', 'because', { correlationId: 'q', ...more })

/** What is shown in the end, and whether each of them has changed it. */
function outcomeOf(...all: Fields[]) {
  const answers = new LiveAnswers()
  const changes = toLog(all).map((envelope) => answers.apply(envelope))
  return { shown: answers.list().map(({ text }) => text), answers, changes }
}
const shown = (...all: Fields[]): string[] => outcomeOf(...all).shown

describe('an answer that is being written', () => {
  test('is what its deltas say, one after the other', () => {
    const { answers } = outcomeOf(delta(0, 'be', { to: ['ana'] }), delta(1, 'cau'), delta(2, 'se'))
    expect(answers.list()).toMatchObject([
      { from: 'bot', trigger: 'q', to: ['ana'], text: 'because', beginning: 1 },
    ])
  })

  test('is one for each sender and what it answers', () => {
    const others = [delta(0, 'other', { from: 'ben' }), delta(0, 'more', { correlationId: 'r' })]
    expect(shown(delta(0, 'be'), ...others, delta(1, 'cause'))).toEqual(['because', 'other', 'more'])
  })

  test('starts over at 0, where it stands', () => {
    const all = [delta(0, 'I look'), delta(0, 'x', { from: 'ben' }), delta(0, 'be'), delta(1, 'cause')]
    const { answers } = outcomeOf(...all)
    expect(answers.list()).toMatchObject([{ text: 'because', beginning: 2 }, { text: 'x' }])
  })

  test.for([
    [[delta(0, 'a'), delta(2, 'c')]],
    [[delta(0, 'a'), delta(2, 'c'), delta(3, 'd')]],
    [[delta(0, 'a'), delta(1, 'b'), delta(1, 'b')]],
    [[delta(0, 'a'), delta(-1, 'b')]],
    [[delta(4, 'e'), delta(5, 'f')]],
    [[delta(0, 'a', { correlationId: ['q', 'r'] })]],
  ])('shows nothing more where one is missing', ([all = []]) => {
    expect(shown(...all)).toEqual([])
    expect(shown(...all, delta(0, 'anew'))).toEqual(['anew'])
  })

  test.for([
    ['the chat that is the answer', answer()],
    ['a chat that answers more', answer({ correlationId: ['p', 'q'] })],
    ['its sender leaving', left('bot')],
  ] as const)('is ended by %s', ([, end]) => {
    expect(outcomeOf(delta(0, 'be'), end)).toMatchObject({ shown: [], changes: [true, true] })
  })

  test.for([
    ['a chat of somebody else', answer({ from: 'ben' })],
    ['an answer to something else', answer({ correlationId: 'r' })],
    ['a chat in a context', answer({ context: 'e1' })],
    ['somebody else leaving', left('ben')],
    ['who says that its sender has left', { ...left('bot'), from: 'eve' }],
  ] as const)('is not ended by %s', ([, other]) => {
    expect(outcomeOf(delta(0, 'be'), other)).toMatchObject({ shown: ['be'], changes: [true, false] })
  })

  const run = start('bot', 'Why?', { correlationId: 'q' })
  test.for([
    ['broken off by its owner', cancel('bot', 'e1'), true],
    ['broken off by the gateway', cancel('system:gateway', 'e1'), true],
    [
      'ended as broken off',
      conclusion('bot', '', { context: 'e1', payload: { metadata: { cancelled: true } } }),
      true,
    ],
    ['to end, as others want it', cancel('ana', 'e1'), false],
    ['concluded', conclusion('bot', 'done', { context: 'e1' }), false],
    ['going on, while a part of it is broken off', cancel('bot', 'e1/e9'), false],
  ] as const)('whose run is %s', ([, end, isEnded]) => {
    expect(shown(run, delta(0, 'be'), end)).toEqual(isEnded ? [] : ['be'])
  })

  test('is not begun again by a delta that comes late', () => {
    const [early, late, ...rest] = toLog([
      delta(0, 'be'),
      delta(0, 'late'),
      delta(1, 'r'),
      answer(),
      delta(1, 'r'),
    ])
    const answers = new LiveAnswers()
    for (const each of [early, rest[1], late, rest[0], rest[2]]) if (each) answers.apply(each)
    expect(answers.list()).toEqual([])
    expect(shown(delta(0, 'be'), answer(), delta(0, 'once more'))).toEqual(['once more'])
  })

  test('is left out where it is longer than anybody reads', () => {
    const long = 'x'.repeat(200_000)
    expect(shown(delta(0, long), delta(1, long), delta(2, 'y'))).toEqual([])
  })

  test('is forgotten where there are too many', () => {
    const many = Array.from({ length: 1000 }, (_, at) => delta(0, `${at}`, { correlationId: `q${at}` }))
    const few = shown(...many)
    expect(few.length).toBeLessThanOrEqual(256)
    expect(few.at(-1)).toBe('999')
    const long = many.map((each) => ({ ...each, payload: { index: 0, text: 'x'.repeat(100_000) } }))
    expect(shown(...long).length).toBeLessThanOrEqual(10)
  })
})
