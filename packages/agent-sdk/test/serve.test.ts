import type { ToolError } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { describe, expect, test } from 'vitest'
import { deferred } from './support/deferred.js'
import { byKind, caughtUp, recordEnvelopes } from './support/record-envelopes.js'

const participants = { ana: ['*'], files: ['*'] }

async function couple() {
  const space = await createTestSpace({ participants })
  const [ana, files] = await Promise.all([space.join('ana'), space.join('files')])
  return { ana, files, [Symbol.asyncDispose]: () => space.close() }
}

const catchFailure = (work: Promise<unknown>): Promise<ToolError> =>
  work.then(
    () => expect.unreachable('it was answered'),
    (error: ToolError) => error,
  )

describe('serving requests that no tool is for', () => {
  test('one handler answers them all', async () => {
    await using here = await couple()
    here.files.serve(async ({ payload, from }) => ({ result: { method: payload.method, from } }))
    expect(await here.ana.request('files', 'tools/list')).toEqual({ method: 'tools/list', from: 'ana' })
    expect(await here.ana.request('files', 'ping')).toEqual({ method: 'ping', from: 'ana' })
  })

  test('tools of its own go before it', async () => {
    await using here = await couple()
    here.files.tool('now', {}, () => 'own').serve(async () => ({ result: { served: true } }))
    expect((await here.ana.call('files/now')).text).toBe('own')
    expect(await here.ana.request('files', 'tools/call', { name: 'then' })).toEqual({ served: true })
    expect(await here.ana.request('files', 'prompts/list')).toEqual({ served: true })
  })

  test('what it leaves unanswered is not offered', async () => {
    await using here = await couple()
    here.files.serve(async () => undefined)
    expect(await catchFailure(here.ana.request('files', 'prompts/list'))).toMatchObject({ code: -32601 })
  })

  test('a handler that throws answers with an error, and goes on', async () => {
    await using here = await couple()
    here.files.serve(async ({ payload }) => {
      if (payload.method === 'bad') throw new Error('no idea')
      return { result: { fine: true } }
    })
    expect(await catchFailure(here.ana.request('files', 'bad'))).toMatchObject({
      name: 'ToolError',
      code: -32603,
      message: 'no idea',
    })
    expect(await here.ana.request('files', 'good')).toEqual({ fine: true })
  })

  test('it is told of notifications, and is aborted by the one that takes a request back', async () => {
    await using here = await couple()
    const [begun, notified, stopped] = [deferred(), deferred<string>(), deferred<unknown>()]
    here.files.serve(async ({ payload }, signal) => {
      if (payload.method.startsWith('notifications/')) {
        notified.resolve(payload.method)
        return undefined
      }
      begun.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      stopped.resolve(signal.reason)
      return { result: {} }
    })
    const payload = { method: 'notifications/initialized' }
    await here.ana.send({ kind: 'mcp.request', to: ['files'], payload })
    expect(await notified.promise).toBe('notifications/initialized')
    const stop = new AbortController()
    const failed = catchFailure(here.ana.request('files', 'slow', {}, { signal: stop.signal }))
    await begun.promise
    stop.abort('enough')
    await failed
    expect(await stopped.promise).toContain('enough')
  })

  test('a request to everyone is its business only where a tool of its own is meant', async () => {
    await using here = await couple()
    const [heard, served] = [recordEnvelopes(here.ana), [] as string[]]
    here.files
      .tool('now', {}, () => 'now')
      .serve(async ({ payload }) => {
        served.push(payload.method)
        return { result: {} }
      })
    const ask = (name: string) =>
      here.ana.send({ kind: 'mcp.request', payload: { method: 'tools/call', params: { name } } })
    await ask('then')
    const now = await ask('now')
    await here.ana.request('files', 'prompts/list')
    await heard.until(({ correlationId }) => correlationId === now.id)
    await caughtUp(here.files, heard)
    expect(served).toEqual(['prompts/list'])
    const answered = heard.all.filter(byKind('mcp.response')).map(({ correlationId }) => correlationId)
    expect(answered).toHaveLength(2)
  })
})

describe('leaving', () => {
  test('answers what is being asked first', async () => {
    await using here = await couple()
    const [begun, go] = [deferred(), deferred()]
    here.files.tool('slow', {}, async () => {
      begun.resolve()
      await go.promise
      return 'done'
    })
    const asked = here.ana.call('files/slow')
    await begun.promise
    const left = here.files.leave(10_000)
    expect(here.files.ended).toBeUndefined()
    go.resolve()
    expect((await asked).text).toBe('done')
    await left
    expect(here.files.ended).toEqual({ error: undefined })
  })

  test('waits no longer than it is told to', async () => {
    await using here = await couple()
    const [begun, stopped] = [deferred(), deferred<unknown>()]
    here.files.tool('endless', {}, async (_, { signal }) => {
      begun.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      stopped.resolve(signal.reason)
    })
    const asked = here.ana.call('files/endless', {}, { timeoutMs: 5000 })
    await begun.promise
    await here.files.leave(1)
    expect(await stopped.promise).toBe('the space was closed')
    here.ana.close()
    await catchFailure(asked)
  })
})
