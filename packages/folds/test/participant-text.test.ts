import { defaultGuard, describe as describeEnvelope, describeState, sentence } from '@meup/folds'
import { describe, expect, test } from 'vitest'
import { toLog } from './support/log.js'

const now = Date.parse('2026-02-21T10:00:00.000Z')
const inMinutes = (minutes: number): string => new Date(now + minutes * 60_000).toISOString()

type State = Omit<Parameters<typeof describeState>[0], 'id' | 'status'>

const here = (state: State = {}) => describeState({ id: 'bot', status: 'present', ...state }, now)
const away = (state: State = {}) => describeState({ id: 'bot', status: 'away', ...state }, now)
const program = (state: NonNullable<State['program']>['state'], count?: number): State => ({
  program: { state, ...(count !== undefined && { count }) },
})
const forNineMinutes: State = { paused: { by: 'ana', reason: 'lunch', until: inMinutes(9) } }

describe('the state of a participant as text', () => {
  test.each([
    [here(), 'here', 'here'],
    [away(), 'away', 'away'],
    [here({ paused: { by: 'ana' } }), 'paused', 'paused by ana'],
    [here(forNineMinutes), 'paused', 'paused by ana, 9 min left'],
    [here({ paused: { by: 'ana', until: inMinutes(8.1) } }), 'paused', 'paused by ana, 9 min left'],
    [here({ paused: { by: 'ana', until: inMinutes(0.1) } }), 'paused', 'paused by ana, 6 s left'],
    [here({ paused: { by: 'ana', until: inMinutes(124.5) } }), 'paused', 'paused by ana, 2 h 5 min left'],
    [away(forNineMinutes), 'paused', 'paused by ana, 9 min left · away'],
    [
      away({ ...forNineMinutes, ...program('restarting', 2) }),
      'paused',
      'paused by ana, 9 min left · restarting (2×)',
    ],
    [here({ paused: { by: 'ana', until: inMinutes(0) } }), 'here', 'here'],
    [away({ kicked: { by: 'ana', reason: 'spam' } }), 'kicked', 'kicked by ana'],
    [
      away({ kicked: { by: 'ana', until: inMinutes(60) } }),
      'kicked',
      'kicked by ana until 2026-02-21T11:00:00.000Z',
    ],
    [away({ kicked: { by: 'ana', until: inMinutes(-1) } }), 'away', 'away'],
    [away({ ...forNineMinutes, ...program('failed', 3), kicked: { by: 'ben' } }), 'kicked', 'kicked by ben'],
    [away(program('starting')), 'starting', 'starting'],
    [away(program('failed')), 'failed', 'failed'],
    [away(program('failed', 2)), 'failed', 'failed (2×)'],
    [away(program('restarting')), 'restarting', 'restarting'],
    [away(program('restarting', 4)), 'restarting', 'restarting (4×)'],
    [here(program('restarting', 4)), 'restarting', 'restarting (4×)'],
    [away(program('resting', 10)), 'resting', 'resting after 10 failures: meup restart bot'],
    [away(program('resting', 1)), 'resting', 'resting after 1 failure: meup restart bot'],
    [away(program('resting')), 'resting', 'resting: meup restart bot'],
    [here(program('running')), 'here', 'here'],
    [away(program('running', 3)), 'away', 'away'],
    [away({ program: { state: 'hibernating' as 'resting' } }), 'away', 'away'],
    [here({ paused: { by: 'a\u001b[2Jna' } }), 'paused', 'paused by a[2Jna'],
  ])('%j', ({ name, text }, wantedName, wantedText) => {
    expect([name, text]).toEqual([wantedName, wantedText])
  })
})

test.each([
  [{ state: 'starting' }, 'event', 'bot is starting'],
  [{ state: 'failed' }, 'problem', 'bot has failed'],
  [{ state: 'restarting', count: 4 }, 'problem', 'bot is restarting (4×)'],
  [{ state: 'resting', count: 10 }, 'problem', 'bot is resting after 10 failures: meup restart bot'],
  [{ state: 'running' }, 'event', 'bot is running'],
  [null, 'event', 'bot has no program any more'],
])('a presence update with the program %j reads as what became of it', (said, tone, text) => {
  const payload = { event: 'update', participant: { id: 'bot' }, program: said }
  const [envelope] = toLog([{ kind: 'system.presence', from: 'system:gateway', payload }])
  if (envelope === undefined) throw new Error('no envelope')
  const description = describeEnvelope(envelope, defaultGuard)
  expect([description.tone, sentence(description)]).toEqual([tone, text])
})
