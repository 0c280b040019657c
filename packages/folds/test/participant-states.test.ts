import { ParticipantStates } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { type Fields, toLog } from './support/log.js'

const pause = (to: string, payload: Fields['payload'] = {}): Fields => ({
  kind: 'participant.pause',
  from: 'ana',
  to: [to],
  payload,
})
const resume = (to: string): Fields => ({ kind: 'participant.resume', from: 'ben', to: [to] })
const kick = (participantId: string, more: object = {}): Fields => ({
  kind: 'space.kick',
  from: 'ana',
  payload: { participantId, ...more },
})
const invite = (participantId: string): Fields => ({
  kind: 'space.invite',
  from: 'ben',
  payload: { participantId, capabilities: [] },
})
const update = (id: string, more: object): Fields => ({
  kind: 'system.presence',
  from: 'system:gateway',
  payload: { event: 'update', participant: { id }, ...more },
})

function apply(...log: Fields[]) {
  const states = new ParticipantStates()
  const envelopes = toLog(log)
  for (const envelope of envelopes) states.apply(envelope)
  const begin = Date.parse((envelopes[0] as Envelope).ts)
  return { states, begin, bot: (ms = 1000) => states.get('bot', begin + ms) }
}

describe('the state of a participant', () => {
  test('is paused until it is resumed', () => {
    expect(apply(pause('bot', { reason: 'lunch' })).bot()).toEqual({ paused: { by: 'ana', reason: 'lunch' } })
    expect(apply(pause('bot'), pause('other'), resume('bot')).bot()).toEqual({})
  })

  test('is paused until its time is over', () => {
    const { bot, begin } = apply(pause('bot', { timeoutSeconds: 60 }))
    expect(bot(59_999)).toEqual({ paused: { by: 'ana', until: new Date(begin + 60_000).toISOString() } })
    expect(bot(60_000)).toEqual({})
  })

  test('is paused no more once the gateway has told that its pause ended, whatever the clock of the reader says', () => {
    const ended = (id: string) => update(id, { ended: { what: 'pause', id: 'p' } })
    expect(apply(pause('bot', { timeoutSeconds: 60 }), ended('bot')).bot(0)).toEqual({})
    expect(apply(pause('bot', { timeoutSeconds: 60 }), ended('other')).bot(0)).toHaveProperty('paused')
  })

  test.each([1e300, 8.64e12, -1e300, Number.NaN])(
    'is paused without an end by a time of %d s, which no date has',
    (timeoutSeconds) => {
      expect(apply(pause('bot', { timeoutSeconds })).bot()).toEqual({ paused: { by: 'ana' } })
    },
  )

  test('is kicked until it is invited again', () => {
    expect(apply(kick('bot', { reason: 'spam' })).bot()).toEqual({ kicked: { by: 'ana', reason: 'spam' } })
    expect(apply(kick('bot'), invite('bot')).bot()).toEqual({})
  })

  test('is kicked until its time is over', () => {
    const untilTs = '2100-01-01T00:00:00.000Z'
    const { states } = apply(kick('bot', { untilTs }))
    const end = Date.parse(untilTs)
    expect(states.get('bot', end - 1)).toEqual({ kicked: { by: 'ana', until: untilTs } })
    expect(states.get('bot', end)).toEqual({})
  })

  test('has what was last said of its program', () => {
    const failing = { program: { state: 'restarting', count: 2 } }
    expect(apply(update('bot', { program: { state: 'starting' } }), update('bot', failing)).bot()).toEqual(
      failing,
    )
    expect(apply(update('bot', failing), update('bot', {})).bot()).toEqual(failing)
    expect(apply(update('bot', failing), update('bot', { program: null })).bot()).toEqual({})
  })

  test('is what a welcome says, whatever was before', () => {
    const { states, begin } = apply(pause('bot'), kick('eve'))
    states.onWelcome([{ id: 'bot', kicked: { by: 'ben' } }, { id: 'ben' }])
    expect(states.get('bot', begin)).toEqual({ kicked: { by: 'ben' } })
    expect(states.get('eve', begin)).toEqual({})
  })

  test('is the same in a snapshot', () => {
    const { states, bot } = apply(pause('bot'), kick('bot'), update('bot', { program: { state: 'failed' } }))
    const other = new ParticipantStates()
    other.restore(JSON.parse(JSON.stringify(states.snapshot())))
    expect(other.get('bot', 0)).toEqual(bot())
  })
})
