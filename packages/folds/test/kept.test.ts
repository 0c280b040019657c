import { createContextFold } from '@meup/folds'
import { describe, expect, test } from 'vitest'
import { call, chat, conclusion, type Fields, feed, result, start, thought } from './support/log.js'
import { foldTurns } from './support/turns.js'

describe('what is still open is kept longest', () => {
  const big = 'x'.repeat(200_000)
  const opening = start('agent', 'For long', { id: 'long' })
  const ending = conclusion('agent', 'At last', { context: 'long' })

  test('a turn, however many others end meanwhile', () => {
    const others = Array.from({ length: 2000 }, (_, index) => [
      chat('user', 'and?', { id: `q${index}` }),
      chat('agent', 'so', { correlationId: `q${index}` }),
    ]).flat()
    expect(foldTurns([opening, ...others, ending]).jobs).toMatchObject([
      { jobId: 'long', state: 'completed' },
    ])
    const asked = [chat('user', 'why?', { id: 'why' }), thought('agent', 'Hm', { correlationId: 'why' })]
    const answer = chat('agent', 'so be it', { correlationId: 'why' })
    const { turns } = foldTurns([...asked, ...others, answer])
    expect(turns[0]).toMatchObject({ turn_number: 1, state: 'completed', response: 'so be it' })
  })

  test('a context, however many others end meanwhile', () => {
    const others = Array.from({ length: 60 }, (_, index) => [
      start('agent', big, { id: `r${index}` }),
      conclusion('agent', '', { context: `r${index}` }),
    ]).flat()
    const fold = createContextFold()
    feed(fold, [opening, ...others])
    expect(fold.get('long')).toMatchObject({ state: 'open' })
    expect(fold.get('r0')).toBeUndefined()
    expect(fold.get('r59')).toMatchObject({ state: 'concluded' })
    const again = createContextFold()
    const touching = others.flatMap((each) => [each, thought('agent', 'late', { context: 'r0' })])
    feed(again, touching)
    expect(again.get('r0')).toMatchObject({ state: 'concluded' })
    expect(again.get('r1')).toBeUndefined()
  })

  test('a call, until there are too many', () => {
    const asked = (id: string) => call('agent', id, {}, { context: 'long', id })
    const ids = Array.from({ length: 999 }, (_, index) => `c${index}`)
    const record = (...log: Fields[]) => foldTurns([opening, ...log]).records[0]
    const names = (turn: ReturnType<typeof record>) => turn?.decisions.map(({ id }) => id)
    const calls = [asked('first'), asked('second'), ...ids.slice(1).map(asked)]
    expect(names(record(...calls, asked('last')))).toEqual(['second', ...ids.slice(1), 'last'])
    expect(names(record(...calls, result('c5', 'ok'), asked('last')))).toEqual(
      ['first', 'second', ...ids.slice(1), 'last'].filter((id) => id !== 'c5'),
    )
  })
})
