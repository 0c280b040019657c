import { FakeClock } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { Summaries } from '../src/core/delivery/summaries.js'
import { byId, type Client, type Sent } from './client.js'
import { start } from './support.js'

const participants = { ana: ['*'], ben: ['*'], cleo: ['*'] }
const begin = (id: string, context?: string): Sent => ({
  id,
  kind: 'reasoning.start',
  ...(context !== undefined && { context }),
})
const thought = (context: string, phase?: string, to?: string[]): Sent => ({
  kind: 'reasoning.thought',
  context,
  payload: { message: 'hm', ...(phase !== undefined && { phase }) },
  ...(to !== undefined && { to }),
})
const end = (context: string): Sent => ({ kind: 'reasoning.conclusion', context })

/** The last summary of each context that a client has received. */
const summaries = (client: Client): Record<string, unknown> =>
  Object.fromEntries(
    client.frames
      .filter(({ kind }) => kind === 'observe.summary')
      .map(({ context, payload }) => [context, payload]),
  )

describe('a summary', () => {
  test('has the thoughts of each context that were cut, before its end', async () => {
    const { connect } = await start({ participants })
    const [ana, ben] = [await connect('ana'), await connect('ben')]
    await ben.subscribe({ reasoning: 'summary' })
    const story = [begin('run'), thought('run', 'plan'), begin('in', 'run'), thought('run/in')]
    const rest = [thought('run', 'execute'), thought('run', 'plan'), thought('run'), end('run')]
    for (const sent of [...story, ...rest]) await ana.accepted(sent)
    await ben.next(({ kind }) => kind === 'reasoning.conclusion')
    expect(summaries(ben)).toEqual({
      run: { thoughts: 4, phases: ['plan', 'execute'] },
      'run/in': { thoughts: 1, phases: [] },
    })
    const kinds = ben.frames.map(({ kind }) => kind)
    expect(kinds.at(-1)).toBe('reasoning.conclusion')
    expect(kinds).not.toContain('reasoning.thought')
    expect(
      ben.frames.filter(({ kind }) => kind === 'observe.summary').every(({ seq }) => seq === undefined),
    ).toBe(true)
  })

  test('counts nothing that its reader may not read, and comes to nobody else', async () => {
    const { connect } = await start({ participants })
    const [ana, ben, cleo] = [await connect('ana'), await connect('ben'), await connect('cleo')]
    await ben.subscribe({ reasoning: 'summary' })
    const hide = { kind: 'observe.visibility', payload: { context: 'run', reasoningVisible: false } }
    const story = [
      begin('run'),
      thought('run', 'plan', ['cleo']),
      thought('run'),
      hide,
      thought('run', 'error'),
    ]
    for (const sent of [...story, end('run'), { id: 'done', kind: 'chat', payload: { message: 'x' } }])
      await ana.accepted(sent)
    await ben.next(byId('done'))
    await cleo.next(byId('done'))
    expect(summaries(ben)).toEqual({ run: { thoughts: 1, phases: [] } })
    expect(summaries(cleo)).toEqual({})
  })

  test('is not prompted by what its reader may not read', async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 1))
    const { connect } = await start({ participants, clock })
    const [ana, ben] = [await connect('ana'), await connect('ben')]
    await ben.subscribe({ reasoning: 'summary' })
    const counts = (): unknown[] =>
      ben.frames.flatMap(({ kind, payload }) => (kind === 'observe.summary' ? [payload.thoughts] : []))
    for (const sent of [begin('run'), thought('run'), thought('run')]) await ana.accepted(sent)
    await ben.next(({ kind }) => kind === 'observe.summary')
    clock.advance(2000)
    await ana.accepted({ kind: 'chat', to: ['cleo'], payload: { message: 'in private' } })
    await ben.subscribe({ reasoning: 'summary', kinds: ['*'] })
    // A changed subscription first sends the summary that is not sent yet (2 thoughts); then a new count begins.
    expect(counts()).toEqual([1, 2])
  })

  test('goes on after a reconnection with what was missed', async () => {
    const { connect } = await start({ participants })
    const ana = await connect('ana')
    await ana.accepted(begin('run'))
    for (let i = 0; i < 300; i++) await ana.accepted(thought('run', 'execute'))
    const ben = await connect('ben')
    await ben.subscribe({ reasoning: 'summary' })
    await ana.accepted(thought('run'))
    await ana.accepted(end('run'))
    await ben.next(({ kind }) => kind === 'reasoning.conclusion')
    expect(summaries(ben)).toEqual({ run: { thoughts: 1, phases: [] } })
  })

  test('comes at most once a second of the log, and of no more than 256 contexts', () => {
    const counted = new Summaries()
    const ts = '2026-01-01T00:00:00.000Z'
    const due = (now: number) =>
      counted.takeDue(now).map(({ context, payload }) => [context, payload.thoughts])
    counted.count('a', ts, undefined)
    expect(due(10_000)).toEqual([['a', 1]])
    counted.count('a', ts, undefined)
    expect(due(10_999)).toEqual([])
    expect(due(11_000)).toEqual([['a', 2]])
    expect(due(20_000)).toEqual([])
    for (let i = 0; i < 256; i++) counted.count(`c${i}`, ts, undefined)
    counted.count('a', ts, undefined)
    expect(due(30_000)).toContainEqual(['a', 1])
    expect(counted.takeBefore({ kind: 'reasoning.conclusion', context: 'a' })).toEqual([])
  })
})
