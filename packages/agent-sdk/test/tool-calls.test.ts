import type { Turn } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { Type } from '@sinclair/typebox'
import { describe, expect, test } from 'vitest'
import { deferred } from './support/deferred.js'
import { byKind, caughtUp, recordEnvelopes } from './support/record-envelopes.js'

const participants = { ana: ['*'], bot: ['*'], tools: ['*'] }
const call = (n: number) => ({ tool: 'tools/echo', args: { n }, why: `number ${n}` })

/** A running turn of bot, and a participant with two tools: `echo` returns its number, `fail` throws. */
async function working() {
  const space = await createTestSpace({ participants })
  const [ana, bot, tools] = await Promise.all([space.join('ana'), space.join('bot'), space.join('tools')])
  const heard = recordEnvelopes(ana)
  tools.tool('echo', { input: Type.Object({ n: Type.Number() }) }, ({ n }) => String(n))
  tools.tool('fail', {}, () => {
    throw new Error('no')
  })
  const turns = bot.turns()
  await ana.chat('to work')
  const { value: turn } = (await turns.next()) as { value: Turn }
  const requests = async () => {
    await caughtUp(bot, heard)
    return heard.all.filter(byKind('mcp.request'))
  }
  return { ana, bot, tools, turn, turns, heard, requests, [Symbol.asyncDispose]: () => space.close() }
}

describe('a call from within a run', () => {
  test('stands in its context, and says why', async () => {
    await using here = await working()
    const run = await here.turn.reason()
    const { text } = await run.call('tools/echo', { n: 1 }, { why: 'to hear it', correlationId: 'thought-1' })
    expect(text).toBe('1')
    const [request] = await here.requests()
    expect(request).toMatchObject({
      context: run.context,
      rationale: 'to hear it',
      correlationId: 'thought-1',
      to: ['tools'],
    })
    expect(request).not.toHaveProperty('parallelGroup')
    expect(await here.heard.until(byKind('mcp.response'))).toMatchObject({ context: run.context })
  })

  test('may be given up without giving up the run', async () => {
    await using here = await working()
    const [begun, run] = [deferred(), await here.turn.reason()]
    here.tools.tool('wait', {}, (_, { signal }) => {
      begun.resolve()
      return new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
    const stop = new AbortController()
    const waiting = run.call('tools/wait', {}, { why: 'to wait', signal: stop.signal })
    const failed = expect(waiting).rejects.toMatchObject({ code: 'aborted', message: 'aborted: enough' })
    await begun.promise
    stop.abort('enough')
    await failed
    expect(run.signal.aborted).toBe(false)
    expect((await run.call('tools/echo', { n: 2 }, { why: 'to go on' })).text).toBe('2')
  })

  test('by the tool itself, about what it is asked', async () => {
    await using here = await working()
    here.tools.tool('think', {}, async (_, { reason, request }) => {
      await using run = await reason('how to put it')
      await run.conclude()
      return `${request.id} ${run.context}`
    })
    const [asked, opened] = (await here.bot.call('tools/think')).text.split(' ')
    const start = await here.heard.until(byKind('reasoning.start'))
    expect(start).toMatchObject({ id: opened, from: 'tools', correlationId: asked })
    expect(start).not.toHaveProperty('context')
  })
})

describe('calls made together', () => {
  test('are numbered within their turn: batches of 3, 1 and 2 are 0,0,0, none, 1,1', async () => {
    await using here = await working()
    const run = await here.turn.reason()
    const results = [
      await run.parallel([call(1), call(2), call(3)]),
      await run.parallel([call(4)]),
      await run.parallel([call(5), call(6)]),
    ]
    expect(results.map((batch) => batch.map(({ text }) => text))).toEqual([
      ['1', '2', '3'],
      ['4'],
      ['5', '6'],
    ])
    const requests = await here.requests()
    expect(requests.map(({ parallelGroup }) => parallelGroup ?? null)).toEqual([0, 0, 0, null, 1, 1])
    expect(requests.map(({ rationale }) => rationale)).toEqual([1, 2, 3, 4, 5, 6].map((n) => `number ${n}`))
    expect(new Set(requests.map(({ context }) => context))).toEqual(new Set([run.context]))
  })

  test('the numbers go on through every context of the turn, and begin again in the next turn', async () => {
    await using here = await working()
    const run = await here.turn.reason()
    await run.parallel([call(1), call(2)])
    const nested = await run.reason()
    await nested.parallel([call(3), call(4)])
    const second = await here.turn.reason()
    await second.parallel([call(5), call(6)])
    await here.ana.chat('once more')
    const { value: next } = (await here.turns.next()) as { value: Turn }
    await (await next.reason()).parallel([call(7), call(8)])
    const requests = await here.requests()
    expect(requests.map(({ parallelGroup }) => parallelGroup)).toEqual([0, 0, 1, 1, 2, 2, 0, 0])
  })

  test('run at once; results come in the order of the calls', async () => {
    await using here = await working()
    const gates = [deferred(), deferred(), deferred()]
    here.tools.tool('gated', { input: Type.Object({ n: Type.Number() }) }, async ({ n }) => {
      gates[n - 1]?.resolve()
      await gates[n]?.promise
      return String(n)
    })
    const run = await here.turn.reason()
    const gated = (n: number) => ({ tool: 'tools/gated', args: { n }, why: 'together' })
    const results = await run.parallel([gated(0), gated(1), gated(2), gated(3)])
    expect(results.map(({ text }) => text)).toEqual(['0', '1', '2', '3'])
  })

  test('one that fails fails the batch; the others were made all the same', async () => {
    await using here = await working()
    const run = await here.turn.reason()
    const batch = run.parallel([call(1), { tool: 'tools/fail', why: 'to fail' }, call(3)])
    await expect(batch).rejects.toMatchObject({ name: 'ToolError', message: 'no' })
    expect(await here.requests()).toHaveLength(3)
  })

  test('none at all is nothing', async () => {
    await using here = await working()
    const run = await here.turn.reason()
    expect(await run.parallel([])).toEqual([])
    await run.parallel([call(1), call(2)])
    expect((await here.requests()).map(({ parallelGroup }) => parallelGroup)).toEqual([0, 0])
  })
})
