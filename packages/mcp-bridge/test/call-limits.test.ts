import { createTestSpace } from '@meup/agent-sdk/testing'
import { bridgeMcpServer } from '@meup/mcp-bridge'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createCalls } from '../src/relay/calls.js'
import { fixtures } from './support/processes.js'
import { call, serve } from './support/servers.js'

afterEach(() => void vi.useRealTimers())

describe('a call may take as long as it gets on', () => {
  const callMs = 60_000
  const ask = (params: object = {}) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const sent: object[] = []
    const calls = createCalls('files', callMs, async (message) => void sent.push(message))
    const answer = calls.request(call('copy', {}, params), {})
    const settled = vi.fn()
    answer.then(settled, settled)
    return { calls, answer, settled, sent }
  }

  test.for([1000, '1000'])('each report begins its time anew: %j', async (progressToken) => {
    const { calls, answer, settled, sent } = ask({ _meta: { progressToken: 'mine' } })
    for (let progress = 1; progress <= 10; progress++) {
      await vi.advanceTimersByTimeAsync(callMs - 1)
      const params = { progressToken, progress }
      calls.onMessage({ jsonrpc: '2.0', method: 'notifications/progress', params }, undefined)
    }
    expect(settled).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(callMs)
    expect(await answer).toMatchObject({ id: 7, error: { code: -32001 } })
    expect(sent.at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 1000 } })
  })

  test('reports of another call do not', async () => {
    const { calls, answer } = ask({ _meta: { progressToken: 'mine' } })
    calls.request(call('other', {}, { _meta: { progressToken: 'mine' } }), {}).catch(() => {}) // Never rejects.
    await vi.advanceTimersByTimeAsync(callMs - 1)
    const params = { progressToken: 1001, progress: 1 }
    calls.onMessage({ jsonrpc: '2.0', method: 'notifications/progress', params }, undefined)
    await vi.advanceTimersByTimeAsync(1)
    expect(await answer).toMatchObject({ error: { code: -32001 } })
  })

  test('callMs of the server ends one that is forgotten, and the server learns it', async () => {
    const { relay } = await serve('rawServer', { callMs: 50 })
    expect(await relay.request(call('silent'))).toMatchObject({ id: 7, error: { code: -32001 } })
    expect(await relay.request(call('seen'))).toMatchObject({
      result: {
        seen: expect.arrayContaining([expect.objectContaining({ method: 'notifications/cancelled' })]),
      },
    })
  })
})

describe('a call whose caller has gone is cancelled at the server', () => {
  const bridged = async () => {
    const space = await createTestSpace({ participants: { ana: ['*'], eve: ['*'], files: ['mcp.*'] } })
    const command = { name: 'files', command: process.execPath, args: [fixtures.rawServer], env: {} }
    const bridge = await bridgeMcpServer({ ...command, connect: () => space.join('files') })
    onTestFinished(async () => {
      await bridge.close()
      await space.close()
    })
    const eve = await space.join('eve')
    const cancelled = async (): Promise<unknown[]> => {
      const { seen } = await eve.request('files', 'tools/call', { name: 'seen' })
      return (seen as { method: string; params?: { reason?: unknown } }[])
        .filter(({ method }) => method === 'notifications/cancelled')
        .map(({ params }) => params?.reason)
    }
    const calledBy = async (session: string) => {
      const seat = await space.join('ana', { session })
      const asked = new Promise((resolve) =>
        eve.on('envelope', ({ from, kind }) => from === 'ana' && kind === 'mcp.request' && resolve(true)),
      )
      seat.call('files/silent').catch(() => {}) // The test closes the space before it is answered.
      await asked
      return seat
    }
    return { space, eve, cancelled, calledBy }
  }

  test('when its program has ended', async () => {
    const { cancelled, calledBy } = await bridged()
    const seat = await calledBy('first')
    expect(await cancelled()).toEqual([])
    seat.close()
    await expect.poll(cancelled).toEqual([expect.stringContaining('gone')])
  })

  test('and those of its other programs go on', async () => {
    const { cancelled, calledBy } = await bridged()
    const seat = await calledBy('first')
    await calledBy('second')
    seat.close()
    await expect.poll(cancelled).toHaveLength(1)
    expect(await cancelled()).toHaveLength(1)
  })
})
