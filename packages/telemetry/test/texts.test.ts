import { describe, expect, test } from 'vitest'
import {
  call,
  cancel,
  conclusion,
  type Fields,
  propose,
  reject,
  start,
  thought,
  toolError,
} from '../../folds/test/support/log.js'
import { foldSpans } from './support/spans.js'

const inRun = { context: 'run' }
const said = [
  start('bot', 'the start', { id: 'run' }),
  thought('bot', 'a thought', inRun),
  { ...thought('ana', 'of a kind of its own', inRun), kind: 'reasoning.doubt' },
  conclusion('bot', 'the end', inRun),
]
const visibility = (reasoningVisible: boolean): Fields => ({
  kind: 'observe.visibility',
  from: 'bot',
  payload: { context: 'run', reasoningVisible },
})

/** The texts of each span, in the order in which the spans end. */
const received = (log: readonly Fields[]): unknown[][] =>
  foldSpans(log, { captureText: true }).map(({ events }) =>
    events.map(({ attributes }) => attributes['meup.message']),
  )

describe('what is thought aloud', () => {
  test('is not told', () => {
    const log = [...said.slice(0, 3), cancel('bot', 'run', 'the reason')]
    expect(foldSpans(log).map(({ events }) => events)).toEqual([[]])
    expect(JSON.stringify(foldSpans(log))).not.toMatch(/the start|a thought|of its own|the reason/)
  })

  test('is told where that is switched on, with who said it and when', () => {
    const [span] = foldSpans(said, { captureText: true })
    const at = (second: number): number => Date.parse(`2026-02-21T10:00:0${second}Z`)
    const event = (name: string, from: string, seq: number, message: string) => ({
      name,
      time: at(seq - 1),
      attributes: { 'gen_ai.agent.name': from, 'meup.seq': seq, 'meup.message': message },
    })
    expect(span?.events).toEqual([
      event('reasoning.start', 'bot', 1, 'the start'),
      event('reasoning.thought', 'bot', 2, 'a thought'),
      event('reasoning.doubt', 'ana', 3, 'of a kind of its own'),
      event('reasoning.conclusion', 'bot', 4, 'the end'),
    ])
  })

  test('belongs to the context it was said in; why one was cancelled, too', () => {
    const log = [
      start('bot', 'outer', { id: 'run' }),
      start('bot', 'inner', { id: 'sub', ...inRun }),
      thought('bot', 'deep', { context: 'run/sub' }),
      thought('bot', 'flat', inRun),
      cancel('bot', 'run/sub', 'no use'),
      thought('bot', 'late', { context: 'run/sub' }),
      conclusion('bot', 'end', inRun),
    ]
    expect(received(log)).toEqual([
      ['inner', 'deep', 'no use'],
      ['outer', 'flat', 'end'],
    ])
  })

  test('is left out where not everybody may read it', () => {
    const withheld = {
      ...thought('bot', 'withheld', inRun),
      payload: { message: '', metadata: { withheld: true } },
    }
    const log = [
      start('bot', 'open', { id: 'run' }),
      thought('bot', 'for ana', { ...inRun, to: ['ana'] }),
      withheld,
      visibility(false),
      thought('bot', 'hidden', inRun),
      visibility(true),
      thought('bot', 'shown', inRun),
      conclusion('bot', 'end', inRun),
    ]
    expect(received(log)).toEqual([['open', 'shown', 'end']])
  })

  test('before a run was hidden is told when the run is over, and not before', () => {
    const log = [
      start('bot', 'outer', { id: 'run' }),
      start('bot', 'inner', { id: 'sub', ...inRun }),
      thought('bot', 'deep', { context: 'run/sub' }),
      thought('bot', 'flat', inRun),
      visibility(false),
      conclusion('bot', 'inner end', { context: 'run/sub' }),
      conclusion('bot', 'outer end', inRun),
    ]
    expect(received(log)).toEqual([
      ['inner', 'inner end'],
      ['outer', 'flat', 'outer end'],
    ])
  })

  test('is told up to 128 times; the rest is counted', () => {
    const many = Array.from({ length: 200 }, (_, n) => thought('bot', `thought ${n}`, inRun))
    const [span] = foldSpans([start('bot', '', { id: 'run' }), ...many, conclusion('bot', '', inRun)], {
      captureText: true,
    })
    expect([span?.events.length, span?.droppedEvents]).toEqual([128, 72])
  })
})

test('what tools are given and give back, and why people refuse, is never told', () => {
  const log = [
    call('bot', 'read', { path: 'salaries' }, { id: 'c1' }),
    toolError('c1', 'no file salaries'),
    propose('bot', 'write', { text: 'salaries' }, { id: 'p1' }),
    reject('ana', 'p1', 'not the salaries'),
  ]
  const spans = foldSpans(log, { captureText: true })
  expect(spans).toHaveLength(2)
  expect(JSON.stringify(spans)).not.toContain('salaries')
})
