import type { SpaceClient, ToolContext } from '@meup/agent-sdk'
import type { Progress } from '@meup/agent-sdk/internal'
import { createTestSpace } from '@meup/agent-sdk/testing'
import type { AnyEnvelope, Capability } from '@meup/protocol'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { deferred } from './support/deferred.js'
import { byKind, caughtUp, recordEnvelopes } from './support/record-envelopes.js'

const participants: Record<string, Capability[]> = {
  ana: ['*'],
  bob: ['*'],
  files: ['*'],
  shy: ['mcp.response'],
}

async function couple() {
  const space = await createTestSpace({ participants })
  const [ana, files] = await Promise.all([space.join('ana'), space.join('files')])
  return { space, ana, files, [Symbol.asyncDispose]: () => space.close() }
}

/** Offers a tool that calls a function of the test. */
const works = (seat: SpaceClient, work: (context: ToolContext) => unknown) =>
  seat.tool('work', {}, (_, context) => work(context))

const isProgress = (envelope: AnyEnvelope): boolean =>
  envelope.kind === 'mcp.request' && envelope.payload.method === 'notifications/progress'

describe('progress', () => {
  test('begins the time anew that its caller waits', async () => {
    await using here = await couple()
    let begun = (_context: ToolContext): void => {}
    const working = new Promise<ToolContext>((resolve) => {
      begun = resolve
    })
    works(here.files, (context) => {
      begun(context)
      return new Promise(() => {})
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    let onReport = (): void => {}
    const settled = vi.fn()
    const call = here.ana.call('files/work', {}, { timeoutMs: 60_000, onProgress: () => onReport() })
    call.then(settled, settled)
    const { progress, signal } = await working
    for (let value = 1; value <= 5; value++) {
      await vi.advanceTimersByTimeAsync(59_000)
      const reported = new Promise<void>((resolve) => {
        onReport = resolve
      })
      progress(value)
      await reported
    }
    expect(settled).not.toHaveBeenCalled()
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve))
    await vi.advanceTimersByTimeAsync(60_000)
    await expect(call).rejects.toMatchObject({ code: 'timeout' })
    await aborted
  })

  test('is told to the asker as it is reported, before the result', async () => {
    await using here = await couple()
    works(here.files, ({ progress }) => {
      progress(0)
      progress(1.5, 3)
      progress(3, 3, 'almost')
      return 'done'
    })
    const received: unknown[] = []
    const { text } = await here.ana.call(
      'files/work',
      {},
      { onProgress: (progress) => received.push(progress) },
    )
    received.push(text)
    const reports = [
      { progress: 0 },
      { progress: 1.5, total: 3 },
      { progress: 3, total: 3, message: 'almost' },
    ]
    expect(received).toEqual([...reports, 'done'])
  })

  test('is a notification to the asker alone, about the request, where it stands', async () => {
    await using here = await couple()
    const heard = recordEnvelopes(here.files)
    works(here.files, ({ progress }) => progress(1))
    await here.ana.call('files/work', {}, { context: 'a/b', onProgress: () => {} })
    const [asked, received] = await Promise.all([heard.until(byKind('mcp.request')), heard.until(isProgress)])
    expect(asked.payload).toMatchObject({ params: { name: 'work', _meta: { progressToken: asked.id } } })
    expect(received).toMatchObject({ from: 'files', to: ['ana'], context: 'a/b', correlationId: asked.id })
    expect(received.payload).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progress: 1, progressToken: asked.id },
    })
  })

  test('is reported to nobody who did not ask for it', async () => {
    await using here = await couple()
    const heard = recordEnvelopes(here.ana)
    works(here.files, ({ progress }) => progress(1))
    await here.ana.call('files/work')
    await caughtUp(here.files, heard)
    expect(heard.all.filter(isProgress)).toEqual([])
    expect((await heard.until(byKind('mcp.request'))).payload).not.toHaveProperty('params._meta')
  })

  test('keeps what a request says in its _meta beside', async () => {
    await using here = await couple()
    here.files.serve(async ({ payload }) => ({ result: { params: payload.params } }))
    const params = { _meta: { trace: 'abc' }, cursor: 'c' }
    const result = await here.ana.request('files', 'tools/list', params, { onProgress: () => {} })
    expect(result).toMatchObject({ params: { cursor: 'c', _meta: { trace: 'abc' } } })
  })

  test('of several calls at once is told to each of its own', async () => {
    await using here = await couple()
    const bob = await here.space.join('bob')
    const both = deferred()
    let calls = 0
    works(here.files, async ({ progress, request }) => {
      if (++calls === 3) both.resolve()
      await both.promise
      progress(calls, 3, request.id)
      return request.id
    })
    const ask = async (asker: SpaceClient) => {
      const received: Progress[] = []
      const { text } = await asker.call(
        'files/work',
        {},
        { onProgress: (progress) => received.push(progress) },
      )
      expect(received.map(({ message }) => message)).toEqual([text])
      return text
    }
    expect(new Set(await Promise.all([ask(here.ana), ask(here.ana), ask(bob)])).size).toBe(3)
  })

  test('is believed of the one who was asked alone, and no more once that one has answered', async () => {
    await using here = await couple()
    const [bob, heard] = [await here.space.join('bob'), recordEnvelopes(here.ana)]
    const go = deferred()
    works(here.files, () => go.promise)
    const received: Progress[] = []
    const asking = here.ana.call('files/work', {}, { onProgress: (progress) => received.push(progress) })
    const { id } = await heard.until(byKind('mcp.request'))
    const report = (seat: SpaceClient, params: object, correlationId = id) =>
      seat.send({
        kind: 'mcp.request',
        to: ['ana'],
        correlationId,
        payload: { method: 'notifications/progress', params },
      })
    await expect(report(bob, { progressToken: id, progress: 1 })).rejects.toMatchObject({ code: 'forbidden' })
    await report(here.files, { progressToken: 'another', progress: 2 })
    await report(here.files, { progressToken: id, progress: 'much' })
    await report(here.files, { progressToken: id, progress: 3 }, 'another')
    await report(here.files, { progressToken: id, progress: 4, total: 'many', message: 5 })
    go.resolve()
    await asking
    await report(here.files, { progressToken: id, progress: 6 })
    await caughtUp(here.files, heard)
    expect(received).toEqual([{ progress: 4 }])
  })

  test('is no request to those who are told', async () => {
    await using here = await couple()
    const served: string[] = []
    here.ana.serve(async ({ payload }) => {
      served.push(payload.method)
      return undefined
    })
    works(here.files, ({ progress }) => progress(1))
    await here.ana.call('files/work', {}, { onProgress: () => {} })
    await here.files.send({ kind: 'mcp.request', to: ['ana'], payload: { method: 'notifications/other' } })
    await expect.poll(() => served).toEqual(['notifications/other'])
  })
})

describe('whoever reports', () => {
  test('too often is heard with the latest, and can still answer', async () => {
    await using here = await couple()
    const [heard, last] = [recordEnvelopes(here.ana), deferred()]
    works(here.files, async ({ progress }) => {
      for (let n = 1; n <= 1000; n++) progress(n, 1000)
      await last.promise
      return 'done'
    })
    const received: number[] = []
    const onProgress = ({ progress }: Progress): void => {
      received.push(progress)
      if (progress === 1000) last.resolve()
    }
    expect((await here.ana.call('files/work', {}, { onProgress })).text).toBe('done')
    expect(received).toEqual([...received].sort((a, b) => a - b))
    expect(received.length).toBeLessThan(50)
    expect(heard.all.filter(isProgress)).toHaveLength(received.length)
  })

  test('after the answer is not heard any more', async () => {
    await using here = await couple()
    const heard = recordEnvelopes(here.ana)
    let late: ToolContext['progress'] | undefined
    works(here.files, ({ progress }) => {
      late = progress
    })
    await here.ana.call('files/work', {}, { onProgress: () => {} })
    late?.(1)
    await caughtUp(here.files, heard)
    expect(heard.all.filter(isProgress)).toEqual([])
  })

  test('what it may not report is told once to whoever listens, and still answers', async () => {
    await using here = await couple()
    const shy = await here.space.join('shy')
    const errors: unknown[] = []
    const refused = deferred()
    shy.on('requestError', (error) => {
      errors.push(error)
      refused.resolve()
    })
    works(shy, async ({ progress }) => {
      progress(1)
      await refused.promise
      progress(2)
      return 'done'
    })
    const heard = recordEnvelopes(here.ana)
    // The request has no addressee, and only addressees may report progress, so the progress is refused.
    const params = { name: 'work', _meta: { progressToken: 7 } }
    await here.ana.send({
      kind: 'mcp.request',
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    })
    expect(await heard.until(byKind('mcp.response'))).toMatchObject({ from: 'shy' })
    expect(heard.all.filter(isProgress)).toEqual([])
    expect(errors).toMatchObject([{ code: 'capability_violation' }])
  })
})

describe('one handler for every request', () => {
  test('reports in the words of MCP, whatever it adds', async () => {
    await using here = await couple()
    const heard = recordEnvelopes(here.ana)
    here.files.serve(async (_, __, notify) => {
      const report = { progress: 1, odd: { kept: true }, progressToken: 'not its own' }
      notify({ method: 'notifications/progress', params: report })
      return { result: {} }
    })
    const payload = { method: 'x/slow', params: { _meta: { progressToken: 7 } } }
    await here.ana.send({ kind: 'mcp.request', to: ['files'], payload })
    const params = { progress: 1, odd: { kept: true }, progressToken: 7 }
    expect((await heard.until(isProgress)).payload).toMatchObject({ params })
  })
})
