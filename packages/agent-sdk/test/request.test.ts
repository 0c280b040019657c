import { ConnectionError, type SpaceClient, ToolError } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import type { Capability } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { deferred } from './support/deferred.js'
import { fakeSchema } from './support/fake-schema.js'
import { byId, byKind, caughtUp, recordEnvelopes } from './support/record-envelopes.js'

const participants: Record<string, Capability[]> = { ana: ['*'], bob: ['*'], files: ['*'], mute: ['chat'] }

/** A space with ana, and `files`, which offers tools. */
async function couple() {
  const space = await createTestSpace({ participants })
  const [ana, files] = await Promise.all([space.join('ana'), space.join('files')])
  return { space, ana, files, [Symbol.asyncDispose]: () => space.close() }
}

describe('a request', () => {
  test('is MCP on the wire, and gives back the result', async () => {
    await using here = await couple()
    const heard = recordEnvelopes(here.ana)
    here.files.serve(async ({ payload }) => ({ result: { asked: payload.method, with: payload.params } }))
    expect(await here.ana.request('files', 'resources/read', { uri: 'file:///a' })).toEqual({
      asked: 'resources/read',
      with: { uri: 'file:///a' },
    })
    const [asked, answered] = await Promise.all(
      ['mcp.request', 'mcp.response'].map((k) => heard.until(byKind(k))),
    )
    expect(asked).toMatchObject({ from: 'ana', to: ['files'] })
    expect(asked?.payload).toEqual({
      jsonrpc: '2.0',
      id: asked?.id,
      method: 'resources/read',
      params: { uri: 'file:///a' },
    })
    expect(answered).toMatchObject({ from: 'files', to: ['ana'], correlationId: asked?.id })
    expect(answered?.payload).toMatchObject({ jsonrpc: '2.0', id: asked?.id })
  })

  test('says where it stands and why it is made', async () => {
    await using here = await couple()
    const heard = recordEnvelopes(here.ana)
    here.files.tool('look', {}, () => 'seen')
    const place = { context: 'a/b', correlationId: 'question-1', parallelGroup: 3 }
    await here.ana.call('files/look', { at: 'it' }, { ...place, why: 'to see it' })
    const asked = await heard.until(byKind('mcp.request'))
    expect(asked).toMatchObject({ ...place, rationale: 'to see it', to: ['files'] })
    expect(asked.payload).toMatchObject({ params: { name: 'look', arguments: { at: 'it' } } })
    expect(await heard.until(byKind('mcp.response'))).toMatchObject({ context: 'a/b' })
  })

  test('leaves out what was not said', async () => {
    await using here = await couple()
    const heard = recordEnvelopes(here.ana)
    here.files.tool('look', {}, () => 'seen')
    await here.ana.call('files/look')
    const asked = await heard.until(byKind('mcp.request'))
    for (const field of ['context', 'correlationId', 'parallelGroup', 'rationale']) {
      expect(asked).not.toHaveProperty(field)
    }
  })

  test('several at once get each their own answer, in whatever order they come', async () => {
    await using here = await couple()
    const gates = [deferred(), deferred(), deferred()]
    here.files.serve(async ({ payload }) => {
      const { n } = payload.params as { n: number }
      await gates[n]?.promise
      return { result: { n } }
    })
    const asked = gates.map((_, n) => here.ana.request('files', 'count', { n }))
    for (const gate of gates.toReversed()) gate.resolve()
    expect(await Promise.all(asked)).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }])
  })

  test('a JSON-RPC error becomes a ToolError', async () => {
    await using here = await couple()
    here.files.serve(async () => ({ error: { code: -32099, message: 'on holiday', data: { until: 'May' } } }))
    const error = await here.ana.request('files', 'tools/call', { name: 'x' }).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ToolError)
    expect(error).toMatchObject({ message: 'on holiday', code: -32099, data: { until: 'May' } })
  })

  test('what the gateway refuses, the asker gets as its ProtocolError', async () => {
    await using here = await couple()
    const unknown = here.ana.call('nobody/look')
    await expect(unknown).rejects.toMatchObject({ name: 'ProtocolError', code: 'participant_not_found' })
    const mute = await here.space.join('mute')
    await expect(mute.call('files/look')).rejects.toMatchObject({ code: 'capability_violation' })
  })

  test.each(['look', '/look', ''])('%j names no tool', async (name) => {
    await using here = await couple()
    await expect(here.ana.call(name)).rejects.toThrow(TypeError)
  })

  test('a tool may have a slash in its name', async () => {
    await using here = await couple()
    here.files.tool('a/b', {}, () => 'ab')
    expect((await here.ana.call('files/a/b')).text).toBe('ab')
  })
})

/** Offers a tool that runs until its signal is aborted; `stopped` resolves with the reason. */
function endless(files: SpaceClient) {
  const [begun, stopped] = [deferred(), deferred<unknown>()]
  files.tool('wait', {}, async (_, { signal }) => {
    begun.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    stopped.resolve(signal.reason)
    return 'stopped'
  })
  return { begun: begun.promise, stopped: stopped.promise }
}

const catchFailure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.unreachable('it was answered'),
    (error: unknown) => error,
  )

describe('giving up', () => {
  test('a request that takes too long; the other side is told, and answers no more', async () => {
    await using here = await couple()
    const heard = recordEnvelopes(here.ana)
    const { stopped } = endless(here.files)
    const error = await catchFailure(here.ana.call('files/wait', {}, { timeoutMs: 20, context: 'c' }))
    expect(error).toBeInstanceOf(ConnectionError)
    expect(error).toMatchObject({ code: 'timeout', details: { timeoutMs: 20 } })
    const late = (error as ConnectionError).message
    expect(await stopped).toBe(late)
    const asked = await heard.until(byKind('mcp.request'))
    const received = await heard.until((e) => e.kind === 'mcp.request' && e.id !== asked.id)
    expect(received).toMatchObject({ to: ['files'], context: 'c', correlationId: asked.id })
    expect(received.payload).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: asked.id, reason: late },
    })
    await caughtUp(here.files, heard)
    expect(heard.all.filter(byKind('mcp.response'))).toEqual([])
  })

  test('by signal, while the tool works', async () => {
    await using here = await couple()
    const { begun, stopped } = endless(here.files)
    const stop = new AbortController()
    const failed = catchFailure(here.ana.call('files/wait', {}, { signal: stop.signal }))
    await begun
    stop.abort('changed my mind')
    expect(await failed).toMatchObject({ code: 'aborted', message: 'aborted: changed my mind' })
    expect(await stopped).toContain('changed my mind')
  })

  test('before the tool has begun: it does not begin', async () => {
    await using here = await couple()
    const [checked, go, ran] = [deferred(), deferred(), [] as string[]]
    const input = fakeSchema(async (value) => {
      checked.resolve()
      await go.promise
      return { value }
    })
    here.files.tool('deploy', { input }, () => void ran.push('deployed'))
    const stop = new AbortController()
    const failed = catchFailure(here.ana.call('files/deploy', {}, { signal: stop.signal }))
    await checked.promise
    stop.abort()
    await failed
    await caughtUp(here.ana, recordEnvelopes(here.files))
    go.resolve()
    await here.ana.request('files', 'ping')
    expect(ran).toEqual([])
  })

  test('by a signal that was given before: nothing is asked', async () => {
    await using here = await couple()
    const heard = recordEnvelopes(here.ana)
    here.files.tool('look', {}, () => 'seen')
    const error = await catchFailure(
      here.ana.call('files/look', {}, { signal: AbortSignal.abort('too late') }),
    )
    expect(error).toMatchObject({ code: 'aborted', message: 'aborted: too late' })
    await caughtUp(here.ana, heard)
    expect(heard.all.filter(byKind('mcp.request'))).toEqual([])
  })

  test('a signal that comes after the answer changes nothing', async () => {
    await using here = await couple()
    const heard = recordEnvelopes(here.ana)
    here.files.tool('look', {}, () => 'seen')
    const stop = new AbortController()
    await here.ana.call('files/look', {}, { signal: stop.signal })
    stop.abort()
    await caughtUp(here.ana, heard)
    expect(heard.all.filter(byKind('mcp.request'))).toHaveLength(1)
  })

  test('what is put to someone who is away all the same they answer when they are back', async () => {
    await using space = await createTestSpace({ participants })
    const ana = await space.join('ana')
    const heard = recordEnvelopes(ana)
    const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'look' } }
    const { seq = 0, id } = await ana.send({ kind: 'mcp.request', to: ['files'], payload })
    const files = await space.join('files', { after: seq - 1, epoch: ana.welcome.space.epoch })
    files.tool('look', {}, () => 'seen')
    expect(await heard.until(byKind('mcp.response'))).toMatchObject({ correlationId: id })
  })

  test('closing ends every wait, and every tool that works', async () => {
    await using here = await couple()
    const { begun, stopped } = endless(here.files)
    const failed = catchFailure(here.ana.call('files/wait'))
    await begun
    here.files.close()
    expect(await stopped).toBe('the space was closed')
    here.ana.close()
    expect(await failed).toMatchObject({ name: 'ConnectionError', code: 'closed' })
    expect(await catchFailure(here.ana.call('files/wait'))).toMatchObject({ code: 'closed' })
  })

  test('only the asker can take its request back', async () => {
    await using here = await couple()
    const [bob, heard] = [await here.space.join('bob'), recordEnvelopes(here.files)]
    const { begun, stopped } = endless(here.files)
    const stop = new AbortController()
    const failed = catchFailure(here.ana.call('files/wait', {}, { signal: stop.signal }))
    await begun
    const { id } = await heard.until(byKind('mcp.request'))
    const cancel = { method: 'notifications/cancelled', params: { requestId: id } }
    const note = await bob.send({ kind: 'mcp.request', to: ['files'], payload: cancel })
    await heard.until(byId(note.id))
    expect(await Promise.race([stopped, Promise.resolve('still working')])).toBe('still working')
    stop.abort('mine')
    await Promise.all([failed, stopped])
  })
})
