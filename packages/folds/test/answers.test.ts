import { LiveAnswers } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { chat, type Fields, toLog } from './support/log.js'

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

/** The texts of the answers in progress at the end of a log, and whether each envelope has changed them. */
function outcomeOf(...all: Fields[]) {
  const answers = new LiveAnswers()
  const changes = toLog(all).map((envelope) => answers.apply(envelope))
  return { shown: answers.list().map(({ text }) => text), answers, changes }
}
const shown = (...all: Fields[]): string[] => outcomeOf(...all).shown

describe('an answer that is being written', () => {
  test('says for whom it is and how often it has begun, and keeps its place', () => {
    const to = ['ana']
    const all = [
      delta(0, 'I look'),
      delta(0, 'x', { from: 'ben' }),
      delta(0, 'be', { to }),
      delta(1, 'cause'),
    ]
    expect(outcomeOf(...all).answers.list()).toMatchObject([
      { from: 'bot', trigger: 'q', to, text: 'because', beginning: 2 },
      { from: 'ben', trigger: 'q', text: 'x', beginning: 1 },
    ])
  })

  test('says whether an envelope has changed it', () => {
    expect(outcomeOf(delta(0, 'be'), answer({ from: 'ben' }), answer(), answer()).changes).toEqual([
      ...[true, false, true, false],
    ])
    expect(outcomeOf(delta(0, 'be'), left('ben'), left('bot')).changes).toEqual([true, false, true])
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
