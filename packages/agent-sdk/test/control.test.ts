import type { SpaceClient, Turn } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { describe, expect, test } from 'vitest'
import { deferred } from './support/deferred.js'
import { eventually } from './support/eventually.js'
import { byId, byKind, caughtUp, recordEnvelopes } from './support/record-envelopes.js'

const participants = { ana: ['*'], bot: ['*'], core: ['chat', 'reasoning.start', 'reasoning.conclusion'] }

async function cast() {
  const space = await createTestSpace({ participants })
  const [ana, bot] = await Promise.all([space.join('ana'), space.join('bot')])
  return { space, ana, bot, heard: recordEnvelopes(ana), [Symbol.asyncDispose]: () => space.close() }
}

const ask = (ana: SpaceClient, what: string, payload = {}, to = ['bot']) =>
  ana.send({ kind: `participant.${what}`, to, payload })

/** Starts an agent that works on a question until its turn is aborted. `begun` resolves with the turn. */
function busy(bot: SpaceClient) {
  const begun = deferred<Turn>()
  const reasons: unknown[] = []
  const work = async (turn: Turn): Promise<void> => {
    await using run = await turn.reason('long work')
    begun.resolve(turn)
    await new Promise((resolve) => run.signal.addEventListener('abort', resolve))
    for (const _ of 'tidy') await bot.send({ kind: 'test.tidying' })
    reasons.push(run.signal.reason)
  }
  const done = bot.answer(work, { onError: () => {} }) // The test may end before the work.
  return { begun: begun.promise, done, reasons }
}

describe('the status of an agent', () => {
  test('is what the SDK knows, and what the agent says over that', async () => {
    await using here = await cast()
    const { begun } = busy(here.bot)
    expect(await here.ana.requestStatus('bot')).toEqual({ status: 'idle', messagesInContext: 0 })
    const question = await here.ana.chat('a question', { to: ['bot'] })
    const turn = await begun
    await turn.reply('just a moment')
    expect(await here.ana.requestStatus('bot')).toEqual({ status: 'working', messagesInContext: 2 })
    await here.ana.send({ kind: 'chat.cancel', correlationId: question.id })
    await eventually(async () => expect((await here.ana.requestStatus('bot')).status).toBe('idle'))
    expect(await here.ana.requestStatus('bot')).toEqual({
      status: 'idle',
      messagesInContext: 2,
      latencyMs: expect.any(Number),
    })
    here.bot.control({
      status: async () => ({ tokens: 7, maxTokens: 9, messagesInContext: 3, mood: 'good' }),
    })
    expect(await here.ana.requestStatus('bot')).toEqual({
      ...{ status: 'idle', messagesInContext: 3, latencyMs: expect.any(Number) },
      ...{ tokens: 7, maxTokens: 9, mood: 'good' },
    })
    expect(await here.ana.requestStatus('bot', { fields: ['tokens', 'other'] })).toEqual({ tokens: 7 })
  })

  test('is told to its asker, while the agent is paused, too', async () => {
    await using here = await cast()
    here.bot.control({})
    await here.ana.pause(['bot'])
    const { id } = await here.ana.send({
      ...{ kind: 'participant.request-status', to: ['bot'], context: 'a/b' },
      payload: { fields: ['status'] },
    })
    const status = await here.heard.until(byKind('participant.status'))
    expect(status).toMatchObject({ from: 'bot', to: ['ana'], correlationId: id, context: 'a/b' })
    expect(status.payload).toEqual({ status: 'paused' })
  })

  test('is asked for in vain of somebody who is no agent', async () => {
    await using here = await cast()
    await expect(here.ana.requestStatus('bot', { timeoutMs: 30 })).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'timeout',
    })
    await expect(here.ana.requestStatus('nobody')).rejects.toMatchObject({ code: 'participant_not_found' })
  })

  test('that cannot be told is trouble', async () => {
    await using here = await cast()
    const core = await here.space.join('core')
    const errors = new Promise((resolve) => core.once('requestError', (...received) => resolve(received)))
    core.control({})
    const { id } = await ask(here.ana, 'request-status', {}, ['core'])
    expect(await errors).toEqual([
      expect.objectContaining({ code: 'capability_violation' }),
      expect.objectContaining({ id }),
    ])
  })
})

describe('the memory of an agent', () => {
  test('is its own: it is told what to do with it, and tells when it is compact', async () => {
    await using here = await cast()
    const received: unknown[] = []
    const note = (what: string) => (request: { payload: object; from: string }) =>
      void received.push([what, request.from, request.payload])
    const hooks = { forget: note('forget'), compact: note('compact'), clear: note('clear') }
    here.bot.control(hooks)
    await ask(here.ana, 'forget', { about: 'ana' })
    await ask(here.ana, 'clear')
    const { id } = await ask(here.ana, 'compact', { to: 100 })
    expect(await here.heard.until(byKind('participant.compact-done'))).toMatchObject({
      from: 'bot',
      to: ['ana'],
      correlationId: id,
    })
    expect(received).toEqual([
      ['forget', 'ana', { about: 'ana' }],
      ['clear', 'ana', {}],
      ['compact', 'ana', { to: 100 }],
    ])
  })

  test('is counted anew after it was cleared', async () => {
    await using here = await cast()
    here.bot.control({})
    await here.bot.chat('hello')
    expect(await here.ana.requestStatus('bot')).toMatchObject({ messagesInContext: 1 })
    await ask(here.ana, 'clear')
    expect(await here.ana.requestStatus('bot')).toEqual({ status: 'idle', messagesInContext: 0 })
  })

  test('stays as it is where the agent declines', async () => {
    await using here = await cast()
    const refuse = () => Promise.reject(new Error('not now'))
    here.bot.control({ compact: refuse, clear: refuse })
    const errors: unknown[] = []
    here.bot.on('requestError', (error) => void errors.push(error))
    await here.bot.chat('hello')
    await ask(here.ana, 'clear')
    await ask(here.ana, 'compact')
    await eventually(() => expect(errors).toEqual([new Error('not now'), new Error('not now')]))
    expect(await here.ana.requestStatus('bot')).toMatchObject({ messagesInContext: 1 })
    expect(here.heard.all.filter(byKind('participant.compact-done'))).toEqual([])
  })
})

describe('a restart', () => {
  test('breaks off what is running, begins anew, and takes the line anew', async () => {
    await using here = await cast()
    const order: string[] = []
    const { begun, reasons } = busy(here.bot)
    here.bot.control({ restart: () => void order.push(`hook after ${String(reasons)}`) })
    here.bot.on('reconnecting', () => void order.push('reconnecting'))
    await here.ana.chat('a question')
    await begun
    const again = new Promise((resolve) => here.bot.once('connected', () => resolve(undefined)))
    await ask(here.ana, 'restart')
    await again
    expect(order).toEqual(['hook after restarted by ana', 'reconnecting'])
    const cancel = await here.heard.until(byKind('reasoning.cancel'))
    expect(cancel.payload).toEqual({ reason: 'restarted by ana' })
    const heard = recordEnvelopes(here.bot)
    const { id } = await here.ana.chat('another question')
    await heard.until(byId(id))
    await here.heard.until((e) => e.kind === 'reasoning.start' && e.correlationId === id)
  })

  test('waits no longer than is reasonable for a turn that does not heed it', async () => {
    await using here = await cast()
    here.bot.control({})
    const never = deferred()
    void here.bot.answer(async (turn) => {
      await turn.reason('stubborn work')
      await never.promise
    })
    await here.ana.chat('a question')
    const { id: context } = await here.heard.until(byKind('reasoning.start'))
    await ask(here.ana, 'restart')
    expect(await here.heard.until(byKind('reasoning.cancel'))).toMatchObject({
      context,
      payload: { reason: 'restarted by ana' },
    })
  })

  test('ends runs that belong to no turn, and the calls in them', async () => {
    await using here = await cast()
    here.bot.control({})
    here.ana.tool(
      'wait',
      {},
      (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
    )
    const run = await here.bot.reason('a job')
    const call = run.call('ana/wait', {}, { why: 'to wait' }).catch((error: Error) => error)
    await here.heard.until(byKind('mcp.request'))
    await ask(here.ana, 'restart')
    expect(await call).toMatchObject({ code: 'aborted', message: 'aborted: restarted by ana' })
    await run[Symbol.asyncDispose]()
    const fence = await here.ana.send({ kind: 'test.fence' })
    await here.heard.until(byId(fence.id))
    const ends = here.heard.all.filter(byKind('reasoning.cancel'))
    expect(ends).toMatchObject([{ context: run.context, payload: { reason: 'restarted by ana' } }])
  })
})

describe('a shutdown', () => {
  test('breaks off what is running, answers, and leaves; what waits is not begun', async () => {
    await using here = await cast()
    const { begun, done, reasons } = busy(here.bot)
    const turns: string[] = []
    const loop = (async () => {
      for await (const turn of here.bot.turns()) {
        turns.push(turn.text)
        await new Promise((resolve) => turn.signal.addEventListener('abort', resolve))
      }
    })()
    const saved = deferred()
    here.bot.control({ shutdown: () => saved.resolve() })
    await here.ana.chat('first')
    await here.ana.chat('second')
    await begun
    await ask(here.ana, 'shutdown')
    expect(await here.bot.closed()).toBeUndefined()
    await Promise.all([saved.promise, done, loop])
    expect(reasons[0]).toBe('shut down by ana')
    expect(turns).toEqual(['first'])
    expect(here.heard.all.filter(byKind('reasoning.cancel')).length).toBeGreaterThan(0)
  })

  test('ends the runs of who may send the core kinds alone', async () => {
    await using here = await cast()
    const core = await here.space.join('core')
    core.control({})
    const { context } = await core.reason('a job')
    await ask(here.ana, 'shutdown', {}, ['core'])
    await core.closed()
    expect(await here.heard.until(byKind('reasoning.conclusion'))).toMatchObject({
      context,
      payload: { message: 'shut down by ana', metadata: { cancelled: true } },
    })
  })

  test('that the agent declines, or that is history or for others, does not happen', async () => {
    await using here = await cast()
    const past = await ask(here.ana, 'shutdown')
    const late = await here.space.join('bot', {
      after: (past.seq ?? 0) - 1,
      epoch: here.ana.welcome.space.epoch,
    })
    late.control({})
    here.bot.control({ shutdown: () => Promise.reject(new Error('not now')) })
    const errors = new Promise((resolve) => here.bot.once('requestError', resolve))
    await recordEnvelopes(late).until(byId(past.id))
    await ask(here.ana, 'shutdown', {}, ['core'])
    await late.chat('still here')
    late.close()
    await ask(here.ana, 'shutdown')
    expect(await errors).toEqual(new Error('not now'))
    await here.bot.chat('still here')
    await caughtUp(here.bot, here.heard)
  })
})
