import type { Reasoning, Turn } from '@meup/agent-sdk'
import { SpaceClient } from '@meup/agent-sdk/internal'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { describe, expect, test } from 'vitest'
import { deferred } from './support/deferred.js'
import { byKind, caughtUp, recordEnvelopes } from './support/record-envelopes.js'
import { accepted, type ScriptedLine, scriptedDial } from './support/scripted-line.js'

const participants = { ana: ['*'], bot: ['*'], tools: ['*'] }

async function three() {
  const space = await createTestSpace({ participants })
  const [ana, bot, tools] = await Promise.all([space.join('ana'), space.join('bot'), space.join('tools')])
  return { ana, bot, tools, heard: recordEnvelopes(ana), [Symbol.asyncDispose]: () => space.close() }
}

const catchFailure = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.unreachable('it did not fail'),
    (error: Error) => error,
  )

const said = (all: readonly { kind: string; context?: string; payload: object }[], context: string) =>
  all.filter((e) => e.context === context).map((e) => [e.kind, e.payload])

/** Offers a tool that runs until its signal is aborted. */
function endless(tools: SpaceClient) {
  const [begun, stopped] = [deferred(), deferred<string>()]
  tools.tool('wait', {}, async (_, { signal }) => {
    begun.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    stopped.resolve(String(signal.reason))
  })
  return { begun: begun.promise, stopped: stopped.promise }
}

test('an agent that may send the core kinds alone concludes what it leaves, and says that it broke it off', async () => {
  const core = ['reasoning.start', 'reasoning.thought', 'reasoning.conclusion']
  await using space = await createTestSpace({ participants: { ana: ['*'], bot: core } })
  const [ana, bot] = [await space.join('ana'), await space.join('bot')]
  const heard = recordEnvelopes(ana)
  const run = await bot.reason()
  await run[Symbol.asyncDispose]()
  await caughtUp(ana, heard)
  expect(said(heard.all, run.context)).toEqual([
    ['reasoning.conclusion', { message: 'left without a conclusion', metadata: { cancelled: true } }],
  ])
})

describe('a run', () => {
  test('is a start, thoughts, a conclusion', async () => {
    await using here = await three()
    const run = await here.bot.reason('looking around', {
      references: ['chat-1', 'report.pdf'],
      metadata: { model: 'test', confidence: 0.5 },
    })
    const first = await run.thought('a first idea', { phase: 'plan', references: ['chat-1'] })
    await run.thought('on second thought', { correlationId: first.id, metadata: { confidence: 0.9 } })
    await run.conclude('that is it', { metadata: { confidence: 1 } })
    await caughtUp(here.bot, here.heard)
    const start = await here.heard.until(byKind('reasoning.start'))
    expect(start).toMatchObject({ id: run.context, from: 'bot' })
    expect(start).not.toHaveProperty('context')
    expect(start).not.toHaveProperty('correlationId')
    expect(start.payload).toEqual({
      message: 'looking around',
      references: ['chat-1', 'report.pdf'],
      metadata: { model: 'test', confidence: 0.5 },
    })
    expect(said(here.heard.all, run.context)).toEqual([
      ['reasoning.thought', { message: 'a first idea', phase: 'plan', references: ['chat-1'] }],
      ['reasoning.thought', { message: 'on second thought', metadata: { confidence: 0.9 } }],
      ['reasoning.conclusion', { message: 'that is it', metadata: { confidence: 1 } }],
    ])
    expect(here.heard.all.filter(byKind('reasoning.thought'))[1]?.correlationId).toBe(first.id)
  })

  test('needs no words', async () => {
    await using here = await three()
    const run = await here.bot.reason()
    await run.conclude()
    await caughtUp(here.bot, here.heard)
    expect((await here.heard.until(byKind('reasoning.start'))).payload).toEqual({})
    expect(said(here.heard.all, run.context)).toEqual([['reasoning.conclusion', {}]])
  })

  test('may be nested; the outer one stays open', async () => {
    await using here = await three()
    const outer = await here.bot.reason('outer')
    const inner = await outer.reason('inner', { references: ['x'] })
    const innermost = await inner.reason()
    expect([inner.context, innermost.context].map((c) => c.split('/').length)).toEqual([2, 3])
    expect(innermost.context.startsWith(`${inner.context}/`)).toBe(true)
    await innermost.conclude('deep')
    await inner.conclude('done')
    await outer.thought('back')
    await outer.conclude()
    await caughtUp(here.bot, here.heard)
    const starts = here.heard.all.filter(byKind('reasoning.start'))
    expect(starts.map(({ context }) => context)).toEqual([undefined, outer.context, inner.context])
    expect(starts[1]?.payload).toEqual({ message: 'inner', references: ['x'] })
    expect(said(here.heard.all, inner.context).at(-1)).toEqual(['reasoning.conclusion', { message: 'done' }])
  })

  test('that cannot be started is not there', async () => {
    await using space = await createTestSpace({ participants: { bot: ['chat'] } })
    const bot = await space.join('bot')
    const before = bot.listenerCount('envelope')
    expect(await catchFailure(bot.reason())).toMatchObject({ code: 'capability_violation' })
    expect(bot.listenerCount('envelope')).toBe(before)
  })

  test('stops listening when it is over', async () => {
    await using here = await three()
    const before = here.bot.listenerCount('envelope')
    const run = await here.bot.reason()
    await (await run.reason()).conclude()
    await run.conclude()
    expect(here.bot.listenerCount('envelope')).toBe(before)
  })
})

describe('leaving a run without a conclusion', () => {
  const leave = async (bot: SpaceClient, work: (run: Reasoning) => Promise<unknown>): Promise<string> => {
    await using run = await bot.reason('work')
    await work(run)
    return run.context
  }

  test('cancels it, and says so', async () => {
    await using here = await three()
    const context = await leave(here.bot, (run) => run.thought('hm'))
    await caughtUp(here.bot, here.heard)
    expect(said(here.heard.all, context).at(-1)).toEqual([
      'reasoning.cancel',
      { reason: 'left without a conclusion' },
    ])
  })

  test('tells which call failed', async () => {
    await using here = await three()
    here.tools.tool('print', {}, () => {
      throw new Error('out of paper')
    })
    const left = leave(here.bot, (run) => run.call('tools/print', {}, { why: 'to have it on paper' }))
    expect(await catchFailure(left)).toMatchObject({ name: 'ToolError', message: 'out of paper' })
    expect((await here.heard.until(byKind('reasoning.cancel'))).payload).toEqual({
      reason: 'left without a conclusion: tools/print: out of paper',
    })
  })

  test('tells why the conclusion was refused', async () => {
    await using here = await three()
    const left = leave(here.bot, (run) => run.conclude('x'.repeat(300_000)))
    expect(await catchFailure(left)).toMatchObject({ code: 'payload_too_large' })
    const { payload } = await here.heard.until(byKind('reasoning.cancel'))
    expect(payload).toEqual({ reason: expect.stringMatching(/^left without a conclusion: The envelope has/) })
  })

  test('says nothing more after a conclusion, or after a cancel', async () => {
    await using here = await three()
    await leave(here.bot, (run) => run.conclude('done'))
    await leave(here.bot, (run) => run.cancel('no longer needed'))
    await caughtUp(here.bot, here.heard)
    const ends = here.heard.all.filter(({ kind }) => /conclusion|cancel/.test(kind))
    expect(ends.map(({ payload }) => payload)).toEqual([{ message: 'done' }, { reason: 'no longer needed' }])
  })

  test('leaves the outer one open', async () => {
    await using here = await three()
    await using outer = await here.bot.reason('outer')
    {
      await using _inner = await outer.reason('inner')
    }
    await outer.conclude('outer')
    await caughtUp(here.bot, here.heard)
    const ends = here.heard.all.filter(({ kind }) => /conclusion|cancel/.test(kind))
    expect(ends.map(({ kind, context }) => [kind, context?.split('/').length])).toEqual([
      ['reasoning.cancel', 2],
      ['reasoning.conclusion', 1],
    ])
  })

  test('when the connection is lost is no failure', async () => {
    await using here = await three()
    const left = leave(here.bot, async () => here.bot.close())
    await expect(left).resolves.toEqual(expect.any(String))
  })
})

describe('interrupting a run', () => {
  test('aborts its signal and the calls that are running; its owner ends it', async () => {
    await using here = await three()
    const { begun, stopped } = endless(here.tools)
    const run = await here.bot.reason('long work')
    const call = catchFailure(run.call('tools/wait', {}, { why: 'to wait' }))
    await begun
    await here.ana.send({ kind: 'reasoning.cancel', context: run.context, payload: { reason: 'enough' } })
    expect(await call).toMatchObject({ code: 'aborted', message: 'aborted: interrupted by ana: enough' })
    expect(await stopped).toContain('interrupted by ana: enough')
    expect(run.signal.reason).toBe('interrupted by ana: enough')
    await run[Symbol.asyncDispose]()
    await caughtUp(here.bot, here.heard)
    expect(said(here.heard.all, run.context).at(-1)).toEqual([
      'reasoning.cancel',
      { reason: 'left without a conclusion: interrupted by ana: enough' },
    ])
  })

  test('reaches what is nested in it, not what it is nested in, nor other runs', async () => {
    await using here = await three()
    const [outer, other] = [await here.bot.reason('outer'), await here.bot.reason('other')]
    const inner = await outer.reason('inner')
    const innermost = await inner.reason('innermost')
    const mine = recordEnvelopes(here.bot)
    await here.ana.send({ kind: 'reasoning.cancel', context: inner.context })
    await caughtUp(here.ana, mine)
    expect([outer, other, inner, innermost].map(({ signal }) => signal.aborted)).toEqual([
      false,
      false,
      true,
      true,
    ])
    expect(inner.signal.reason).toBe('interrupted by ana')
  })

  test('may come right behind the start', async () => {
    const line = scriptedDial('bot')
    const opening = SpaceClient.open(line.dial, { url: 'memory:', space: 'test' })
    const gateway = await line.next()
    gateway.welcome()
    const bot = await opening
    const starting = bot.reason('a long thought')
    await interruptAtOnce(gateway)
    expect((await starting).signal.reason).toBe('interrupted by ana: stop')
    bot.close()
  })

  test('ends the turn that the run is of', async () => {
    await using here = await three()
    const turns = here.bot.turns()
    await here.ana.chat('think about it')
    const { value: turn } = (await turns.next()) as { value: Turn }
    const run = await turn.reason()
    const ended = new Promise((resolve) => turn.signal.addEventListener('abort', resolve))
    await here.ana.send({ kind: 'reasoning.cancel', context: run.context })
    await ended
    expect(turn.signal.reason).toBe('interrupted by ana')
  })

  test('taking the question back aborts its runs', async () => {
    await using here = await three()
    const { begun, stopped } = endless(here.tools)
    const turns = here.bot.turns()
    const asked = await here.ana.chat('think about it')
    const { value: turn } = (await turns.next()) as { value: Turn }
    const nested = await (await turn.reason()).reason()
    const call = catchFailure(nested.call('tools/wait', {}, { why: 'to wait' }))
    await begun
    await here.ana.send({ kind: 'chat.cancel', correlationId: asked.id, payload: { reason: 'never mind' } })
    expect(await call).toMatchObject({ message: 'aborted: never mind' })
    expect(await stopped).toContain('never mind')
  })
})

/** Delivers the echo of the start together with an interruption, like a socket that received both in one packet. */
async function interruptAtOnce(gateway: ScriptedLine): Promise<void> {
  const [start] = gateway.sent
  if (start === undefined) throw new Error('no start was sent')
  const cancel = { id: 'stop', kind: 'reasoning.cancel', context: start.id, payload: { reason: 'stop' } }
  // Waits until the client listens on the connection.
  await new Promise((resolve) => setTimeout(resolve))
  gateway.deliver(accepted('bot', start, 1), accepted('ana', cancel, 2))
}
