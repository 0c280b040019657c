import { Calls, ContextStates, createContextFold, defaultGuard, ProposalViews } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import { call, conclusion, propose, result, start, toLog } from './support/log.js'

interface Fold {
  apply(envelope: Envelope): unknown
}

const feed = (fold: Fold, log: readonly Envelope[]): void => {
  for (const envelope of log) fold.apply(envelope)
}

const ids = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

const count = times(25_000, 100_000)

describe(`${count} that are open`, () => {
  const calls = () => new Calls<true>({ reduce: () => true })

  test('calls: the latest 10,000 are kept, and end with their answers', () => {
    const asked = ids('c', count).map((id) => call('ana', 'read', {}, { id, payload: { id } }))
    const fold = calls()
    feed(fold, toLog([...asked, result(`c${count - 1}`, 'ok'), result('c0', 'ok')]))
    expect([...fold.open()].map(({ id }) => id)).toEqual(ids('c', count - 1).slice(-9999))
    expect(fold.get(`c${count - 1}`)?.state).toBe('answered')
    expect(fold.get('c0')).toBeUndefined()
  })

  // How many proposals are kept depends on their size, so the test expects no exact number.
  test('proposals: the latest are kept, and end with the program of their proposer', () => {
    const many = times(40_000, 100_000)
    const proposed = ids('p', many).map((id) => ({ ...propose('bot', 'act', {}, { id }), session: 's1' }))
    const ended = {
      from: 'system:gateway',
      kind: 'system.presence',
      payload: { event: 'update', participant: { id: 'bot' }, session: { id: 's1', event: 'ended' } },
    }
    const fold = new ProposalViews(defaultGuard)
    feed(fold, toLog([...proposed, ended]))
    expect(fold.get('p0')).toBeUndefined()
    const open = fold.open()
    expect(open.at(-1)).toMatchObject({ id: `p${many - 1}`, programEnded: true })
    expect(open.length).toBeLessThan(35_000)
  })

  // If each elicitation copied the list of the earlier ones, the test would take minutes.
  test('elicitations about one call: all of those that are kept end with it', () => {
    const about = { to: ['ana'], correlationId: 'c1' }
    const asked = ids('x', count).map((id) =>
      call('tool', '', {}, { ...about, id, payload: { id, method: 'elicitation/create' } }),
    )
    const fold = calls()
    feed(
      fold,
      toLog([call('ana', 'read', {}, { id: 'c1', to: ['tool'] }), ...asked, result('c1', 'ok', 'tool')]),
    )
    expect(fold.get(`x${count - 1}`)?.state).toBe('cancelled')
  })
})

describe('10,000 contexts', () => {
  const nested = ids('n', 9999).map((id) => start('bot', '', { id, context: 'run' }))
  const log = [start('bot', '', { id: 'run' }), ...nested]

  test('nested in one run end one by one, and with it', () => {
    const half = ids('n', 5000).map((id) => conclusion('bot', '', { context: `run/${id}` }))
    const fold = new ContextStates({ open: 20_000, closed: 20_000 })
    feed(fold, toLog([...log, ...half]))
    expect(fold.openCount).toBe(5000)
    feed(fold, toLog([conclusion('bot', '', { context: 'run' })], 20_000))
    expect([fold.openCount, [...fold.values()].length]).toEqual([0, 10_000])
  })

  test('the latest of 20,000 runs that never end are kept', () => {
    const runs = ids('r', 20_000).map((id) => start('bot', '', { id }))
    const fold = new ContextStates()
    feed(fold, toLog(runs))
    expect([...fold.open()].map(({ context }) => context)).toEqual(ids('r', 20_000).slice(-10_000))
  })

  test('are shown as one tree', () => {
    const fold = createContextFold()
    feed(fold, toLog([...log, conclusion('bot', '', { context: 'run' })]))
    expect(fold.get('run/n9998')?.state).toBe('concluded')
    expect(fold.all().length).toBeGreaterThan(1000)
  })
})
