import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { relayError } from '../src/errors.js'
import { isRunning } from './support/processes.js'
import { call, serve } from './support/servers.js'

const seen = (part: object) => expect.objectContaining(part)
const name = 'files'
const ended = (reason: string) => ({ ...relayError('ended_meanwhile', { name, reason }), id: 7 })

describe('a server that ends', () => {
  test.for([
    ['exit', 'exited with code 7'],
    ['kill', 'was killed by SIGKILL'],
  ] as const)('answers every pending request, and all later ones: %s', async ([manner, reason]) => {
    const { relay } = await serve('rawServer')
    const pending = [relay.request(call('silent')), relay.request(call(manner))]
    expect(await Promise.all(pending)).toEqual([ended(reason), ended(reason)])
    expect(await relay.closed).toEqual({ reason })
    expect(await relay.request(call('seen'))).toEqual({ ...relayError('ended', { name, reason }), id: 7 })
    const notified = relay.notify({ method: 'notifications/roots/list_changed' })
    await expect(notified).rejects.toMatchObject({ code: 'ended', details: { name, reason } })
  })

  test.for([
    ['mute', 'closed its stdout'],
    ['deaf', 'closed its stdin'],
  ] as const)('by closing a pipe is ended altogether: %s', async ([manner, reason]) => {
    const { relay } = await serve('rawServer')
    const { result } = await relay.request(call('pid'))
    const first = relay.request(call(manner))
    // That a server has closed its stdin is only noticed when a message is sent.
    const answers = [first, ...(manner === 'deaf' ? [untilRefused(relay)] : [])]
    expect(await Promise.all(answers)).toEqual(answers.map(() => seen({ error: seen({ code: -32000 }) })))
    expect(await relay.closed).toEqual({ reason })
    expect(isRunning(Number(result?.pid))).toBe(false)
  })

  test('in the middle of ten calls answers each of them', async () => {
    const { relay } = await serve('rawServer')
    const pending = Array.from({ length: 10 }, () => relay.request(call('silent')))
    const answers = await Promise.all([...pending, relay.request(call('exit'))])
    expect(answers).toEqual(answers.map(() => ended('exited with code 7')))
  })

  test('because it is closed answers what is pending', async () => {
    const { relay } = await serve('rawServer')
    const pending = relay.request(call('silent'))
    await relay.close()
    expect(await pending).toEqual(ended('exited with code 0'))
  })
})

async function untilRefused(relay: Awaited<ReturnType<typeof serve>>['relay']) {
  for (;;) {
    const answer = await relay.request(call('silent'), { timeoutMs: 50 })
    if (answer.error?.code !== -32001) return answer
  }
}

describe('a call given up', () => {
  test('after its timeout is an error, and the server is told', async () => {
    const { relay } = await serve('rawServer')
    const answer = await relay.request(call('silent'), { timeoutMs: 20 })
    expect(answer).toEqual({ ...relayError('late', { name, timeoutMs: 20 }), id: 7 })
    expect(await relay.request(call('seen'))).toMatchObject({ result: { seen: cancellation() } })
  })

  test('by its asker is an error, and the server is told', async () => {
    const { relay } = await serve('rawServer')
    const { signal, abort } = aborting()
    const pending = relay.request(call('silent'), { signal })
    abort(new Error('changed my mind'))
    const cancelled = relayError('cancelled', { reason: 'changed my mind' })
    expect(await pending).toEqual({ ...cancelled, id: 7 })
    const seenByServer = cancellation(cancelled.error?.message)
    expect(await relay.request(call('seen'))).toMatchObject({ result: { seen: seenByServer } })
  })

  test('before it began never reaches the server', async () => {
    const { relay } = await serve('rawServer')
    const answer = await relay.request(call('silent'), { signal: AbortSignal.abort() })
    expect(answer).toMatchObject({ id: 7, error: { code: -32800 } })
    const { result } = await relay.request(call('seen'))
    expect(JSON.stringify(result)).not.toContain('silent')
  })

  test('is not answered a second time, nor does its answer disturb', async () => {
    const { relay, lines } = await serve('rawServer')
    const { signal, abort } = aborting()
    const pending = relay.request(call('silent'), { signal })
    abort()
    await pending
    const { result } = await relay.request(call('seen'))
    const [, , { id }] = (result as { seen: [unknown, unknown, { id: number }] }).seen
    const late = `{"jsonrpc":"2.0","id":${id},"result":{"late":true}}\n{"jsonrpc":"2.0","id":$ID,"result":{}}`
    expect(await relay.request(call('line', { line: late }))).toEqual({ jsonrpc: '2.0', id: 7, result: {} })
    expect(lines).toEqual([])
  })

  test('cannot be given up by another, who may name any id', async () => {
    const { relay } = await serve('rawServer')
    await relay.notify({ method: 'notifications/cancelled', params: { requestId: 1000 } })
    await relay.notify({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } })
    const { result } = await relay.request(call('seen'))
    expect(JSON.stringify(result)).not.toContain('cancelled')
    expect(JSON.stringify(result)).toContain('notifications/progress')
  })
})

/** Messages that the server must have received: among them a request, and its cancellation with the same id. */
function cancellation(reason: unknown = expect.any(String)) {
  return [
    seen({ method: 'initialize' }),
    seen({ method: 'notifications/initialized' }),
    seen({ id: 1000, params: seen({ name: 'silent' }) }),
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1000, reason } },
    seen({ id: 1001 }),
  ]
}

function aborting() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: (reason?: Error) => controller.abort(reason) }
}

const notStarted = (reason: string) => ({
  code: 'not_started',
  details: { name, reason: expect.stringContaining(reason) },
})

describe('a server that does not start', () => {
  test.for([
    ['exits', 'exited with code 9'],
    ['refuses', 'no key is configured'],
  ] as const)('is named, with what it said: %s', async ([argument, reason]) => {
    await expect(serve('rawServer', { argument })).rejects.toMatchObject(notStarted(reason))
  })

  test('because it takes too long is given up, with what was asked, and what it wrote to stderr', async () => {
    const argument = JSON.stringify({ startMs: 60_000, stderr: 'pulling layer 1\npulling layer 2\n' })
    const starting = serve('oddServer', { argument, startTimeoutMs: 1000 })
    const said = 'Its last lines on stderr: pulling layer 1 | pulling layer 2'
    await expect(starting).rejects.toMatchObject({
      ...notStarted(said),
      cause: { code: 'late', details: { request: 'initialize', timeoutMs: 1000 } },
    })
  })

  test('hands its stderr to the log while it starts', async () => {
    const abort = new AbortController()
    const argument = JSON.stringify({ startMs: 60_000, stderr: 'pulling\n' })
    const log = (line: string) => abort.abort(line)
    await expect(serve('oddServer', { argument, signal: abort.signal, log })).rejects.toMatchObject(
      notStarted('given up'),
    )
    expect(abort.signal.reason).toBe('pulling')
  })

  test.for([0, 300])('because its start is given up leaves no process: after %i ms', async (ms) => {
    const before = listChildren()
    const starting = serve('oddServer', {
      argument: JSON.stringify({ startMs: 60_000 }),
      signal: ms === 0 ? abortNow() : AbortSignal.timeout(ms),
    })
    await expect(starting).rejects.toMatchObject(notStarted('given up'))
    // Compares only new processes, since those of earlier tests may end in the meantime.
    expect(listChildren().filter((child) => !before.includes(child))).toEqual([])
  })

  test('because what it says of itself cannot be read is told in one sentence', async () => {
    const argument = JSON.stringify({ initialize: { protocolVersion: [] } })
    await expect(serve('oddServer', { argument })).rejects.toMatchObject({
      details: { name, reason: 'answered initialize, but /protocolVersion is an array' },
    })
  })

  test('because there is no such command is told so', async () => {
    await expect(serve('rawServer', { command: 'no-such-server' })).rejects.toMatchObject({
      code: 'cannot_start',
      details: { command: 'no-such-server', systemCode: 'ENOENT' },
    })
  })
})

/** Returns a signal that is aborted in the next microtask, when the start has begun. */
function abortNow(): AbortSignal {
  const controller = new AbortController()
  queueMicrotask(() => controller.abort())
  return controller.signal
}

/** Ids of running reaper processes that this process has started. */
function listChildren(): string[] {
  const rows = execFileSync('ps', ['-A', '-o', 'ppid=,stat=,pid=,args='], { encoding: 'utf8' }).split('\n')
  return rows.flatMap(
    (row) => new RegExp(`^ *${process.pid} +[^Z ]\\S* +(\\d+) .*reaper`).exec(row)?.[1] ?? [],
  )
}
