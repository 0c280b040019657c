import type { Pause, SpaceClient, Turn } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { describe, expect, test } from 'vitest'
import { Pauses } from '../src/client/pauses.js'
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

  test('may act as soon as the gateway tells that its time is over, whatever its own clock says', () => {
    const changes: (Pause | undefined)[] = []
    const pauses = new Pauses({ id: 'bot' }, (pause) => changes.push(pause))
    const common = { protocol: 'meup/v0.3', id: 'p', ts: new Date().toISOString() } as const
    pauses.onEnvelope({
      ...common,
      from: 'ana',
      to: ['bot'],
      kind: 'participant.pause',
      payload: { timeoutSeconds: 3600 },
    })
    const end = (id: string): void =>
      pauses.onEnvelope({
        ...common,
        from: 'system:gateway',
        kind: 'system.presence',
        payload: { event: 'update', participant: { id }, ended: { what: 'pause', id: 'p' } },
      })
    end('eve')
    expect(pauses.current).toMatchObject({ by: 'ana' })
    end('bot')
    expect([pauses.current, changes.length]).toEqual([undefined, 2])
  })

  test('finds out when it comes later', async () => {
    await using here = await cast()
    await here.ana.pause(['bot'])
    const late = await here.space.join('bot')
    expect(late.paused).toBeUndefined()
    const pausing = paused(late)
    await expect(late.chat('hello')).rejects.toMatchObject({ code: 'participant_paused' })
    expect(await pausing).toEqual({})
    await here.ana.pause(['bot'], { timeoutSeconds: 3600 })
    const later = await here.space.join('bot')
    await expect(later.chat('hello')).rejects.toMatchObject({ code: 'participant_paused' })
    expect(later.paused).toEqual({ until: expect.stringMatching(/Z$/) })
    const resuming = [resumed(late), resumed(later)]
    await here.ana.resume(['bot'])
    await Promise.all(resuming)
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
