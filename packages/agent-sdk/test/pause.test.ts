import type { SpaceClient, Turn } from '@meup/agent-sdk'
import type { Pause } from '@meup/agent-sdk/internal'
import { createTestSpace } from '@meup/agent-sdk/testing'
import type { AnyEnvelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { OwnPause } from '../src/client/pauses.js'
import { GatewayTime, ParticipantList } from '../src/client/space-state.js'
import { deferred } from './support/deferred.js'
import { eventually } from './support/eventually.js'
import { caughtUp, recordEnvelopes } from './support/record-envelopes.js'

const participants = { ana: ['*'], bot: ['*'] }

async function cast() {
  const space = await createTestSpace({ participants })
  const [ana, bot] = await Promise.all([space.join('ana'), space.join('bot')])
  return { space, ana, bot, [Symbol.asyncDispose]: () => space.close() }
}

const paused = (seat: SpaceClient): Promise<Pause> => new Promise((resolve) => seat.once('paused', resolve))
const resumed = (seat: SpaceClient): Promise<void> => new Promise((resolve) => seat.once('resumed', resolve))

describe('a participant that is paused', () => {
  test('knows by whom and why, may not act, and may again when it is resumed', async () => {
    await using here = await cast()
    const pausing = paused(here.bot)
    await here.ana.pause(['bot'], { reason: 'lunch' })
    expect(await pausing).toEqual({ by: 'ana', reason: 'lunch' })
    expect(here.bot.paused).toEqual({ by: 'ana', reason: 'lunch' })
    expect(here.ana.paused).toBeUndefined()
    await expect(here.bot.chat('hello')).rejects.toMatchObject({
      code: 'participant_paused',
      retryable: true,
    })
    const resuming = resumed(here.bot)
    await here.ana.resume(['bot'], 'back')
    await resuming
    expect(here.bot.paused).toBeUndefined()
    await here.bot.chat('hello')
  })

  test('knows until when', async () => {
    await using here = await cast()
    const [pausing, resuming] = [paused(here.bot), resumed(here.bot)]
    const { ts } = await here.ana.pause(['bot'], { timeoutSeconds: 2 })
    expect(await pausing).toEqual({ by: 'ana', until: new Date(Date.parse(ts) + 2000).toISOString() })
    await resuming
    await here.bot.chat('hello')
  })

  /** A client part that derives the pause of bot from envelopes, and functions that pass envelopes to it. */
  function hearing() {
    const changes: (Pause | undefined)[] = []
    const participants = new ParticipantList(new GatewayTime())
    const pauses = new OwnPause({ id: 'bot' }, participants, (pause) => changes.push(pause))
    let seq = 0
    const hear = (fields: Pick<AnyEnvelope, 'from' | 'kind'> & Partial<AnyEnvelope>): void => {
      const common = { protocol: 'meup/v0.3', id: 'p', ts: new Date().toISOString(), payload: {} }
      const envelope = { ...common, seq: ++seq, ...fields } as AnyEnvelope
      participants.fold.apply(envelope)
      pauses.onEnvelope(envelope)
    }
    const announce = (id: string, more: object): void =>
      hear({
        from: 'system:gateway',
        kind: 'system.presence',
        payload: { event: 'update', participant: { id }, ...more },
      })
    announce('bot', { event: 'join' })
    return { pauses, changes, hear, announce }
  }

  test('may act as soon as the gateway tells that its time is over, whatever its own clock says', () => {
    const { pauses, changes, hear, announce } = hearing()
    hear({ from: 'ana', to: ['bot'], kind: 'participant.pause', payload: { timeoutSeconds: 3600 } })
    announce('eve', { ended: { what: 'pause', id: 'p' } })
    expect(pauses.current).toMatchObject({ by: 'ana' })
    announce('bot', { ended: { what: 'pause', id: 'p' } })
    expect([pauses.current, changes.length]).toEqual([undefined, 2])
  })

  test('finds out by a refusal that comes before the pause, and is resumed once', () => {
    const { pauses, changes, hear, announce } = hearing()
    pauses.onRefused({ code: 'participant_paused', message: '', retryAfterMs: 3_600_000 })
    expect(changes).toEqual([{ until: expect.stringMatching(/Z$/) }])
    announce('bot', {})
    hear({ from: 'ana', to: ['bot'], kind: 'participant.pause' })
    hear({ from: 'ana', to: ['eve'], kind: 'participant.resume' })
    hear({ from: 'ana', to: ['bot'], kind: 'participant.resume' })
    expect(changes.slice(1)).toEqual([{ by: 'ana' }, undefined])
    pauses.onRefused({ code: 'participant_paused', message: '' })
    hear({ from: 'ana', to: ['eve'], kind: 'participant.resume' })
    expect(pauses.current).toEqual({})
    hear({ from: 'ana', to: ['bot'], kind: 'participant.resume' })
    expect(pauses.current).toBeUndefined()
    pauses.onClose()
  })

  test('knows it from the welcome when it comes later', async () => {
    await using here = await cast()
    await here.ana.pause(['bot'], { reason: 'lunch' })
    const late = await here.space.join('bot')
    expect(late.paused).toEqual({ by: 'ana', reason: 'lunch' })
    const resuming = resumed(late)
    await here.ana.resume(['bot'])
    await resuming
    expect(late.paused).toBeUndefined()
  })

  test('does not mind a pause that ends in no foreseeable time', async () => {
    await using here = await cast()
    const pausing = paused(here.bot)
    await here.ana.pause(['bot'], { timeoutSeconds: 1e300 })
    expect(await pausing).toEqual({ by: 'ana' })
  })

  test('answers for its tools', async () => {
    await using here = await cast()
    here.bot.tool('look', {}, () => 'seen')
    await here.ana.pause(['bot'])
    expect((await here.ana.call('bot/look')).text).toBe('seen')
  })

  test('takes up what it is asked when it is resumed', async () => {
    await using here = await cast()
    const [begun, finish, texts] = [deferred<Turn>(), deferred(), [] as string[]]
    const done = here.bot.answer(async (turn) => {
      texts.push(turn.text)
      if (turn.text !== 'first') return
      begun.resolve(turn)
      await finish.promise
    })
    await here.ana.chat('first')
    await begun.promise
    await here.ana.pause(['bot'])
    await here.ana.chat('second')
    await caughtUp(here.ana, recordEnvelopes(here.bot))
    finish.resolve()
    expect(texts).toEqual(['first'])
    await here.ana.resume(['bot'])
    await eventually(() => expect(texts).toEqual(['first', 'second']))
    await here.ana.pause(['bot'])
    await here.ana.chat('third')
    await caughtUp(here.ana, recordEnvelopes(here.bot))
    here.bot.close()
    await done
  })
})

describe('a turn that a pause comes into', () => {
  test('waits with what it may not do, ends its runs, and goes on when it is resumed', async () => {
    await using here = await cast()
    const heard = recordEnvelopes(here.ana)
    here.ana.tool('look', {}, () => 'seen')
    const [begun, go] = [deferred(), deferred()]
    const done = deferred()
    void here.bot.answer(async (turn) => {
      const run = await turn.reason('looking')
      begun.resolve()
      await go.promise
      await run.thought('a thought')
      const nested = await run.reason()
      await nested.conclude((await nested.call('ana/look', {}, { why: 'to see' })).text)
      await turn.reply('done')
      await run.conclude()
      done.resolve()
    })
    await here.ana.chat('go')
    await begun.promise
    await here.ana.pause(['bot'])
    go.resolve()
    await caughtUp(here.ana, recordEnvelopes(here.bot))
    expect(heard.all.filter(({ from }) => from === 'bot').map(({ kind }) => kind)).toEqual([
      'reasoning.start',
    ])
    await here.ana.resume(['bot'])
    await done.promise
    expect(heard.all.filter(({ from }) => from === 'bot').map(({ kind }) => kind)).toEqual([
      ...['reasoning.start', 'reasoning.thought', 'reasoning.start', 'mcp.request'],
      ...['reasoning.conclusion', 'chat', 'reasoning.conclusion'],
    ])
  })

  test('gives up where it is aborted, or the seat is left', async () => {
    await using here = await cast()
    const run = await here.bot.reason()
    await here.ana.pause(['bot'])
    const refused = { name: 'ProtocolError', code: 'participant_paused' }
    const aborted = { name: 'ConnectionError', code: 'aborted' }
    const thought = expect(run.thought('hm')).rejects.toMatchObject(aborted)
    await here.ana.send({ kind: 'reasoning.cancel', context: run.context })
    await thought
    const start = expect(here.bot.reason()).rejects.toMatchObject(refused)
    await caughtUp(here.ana, recordEnvelopes(here.bot))
    here.bot.close()
    await start
  })
})
