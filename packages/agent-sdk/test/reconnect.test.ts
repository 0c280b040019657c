import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import { sqliteStore } from '@meup/gateway'
import { testToken } from '@meup/gateway/testing'
import type { AnyEnvelope } from '@meup/protocol'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { proxy } from '../../../test/support/proxy.js'
import { deferred } from './support/deferred.js'
import { eventually } from './support/eventually.js'
import { byId, type EnvelopeRecorder, recordEnvelopes } from './support/record-envelopes.js'
import { fromGateway, makeWelcome } from './support/scripted-line.js'
import { lastingMemory, type OpenStore, standing } from './support/standing.js'

const participants = { ana: ['*'], bob: ['*'], bot: ['*'] }

/** Waits between reconnect attempts are random, so this makes them short. */
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0.01))
afterEach(() => void vi.restoreAllMocks())

const enter = (url: string, as: string): Promise<SpaceClient> =>
  connect({ url, space: 'test', token: testToken(as) })

const reconnecting = (seat: SpaceClient): Promise<string> =>
  new Promise((resolve) => seat.once('reconnecting', (_, reason) => resolve(reason)))
const welcomed = (seat: SpaceClient): Promise<unknown> =>
  new Promise((resolve) => seat.once('welcome', resolve))

const texts = (all: readonly AnyEnvelope[]): string[] =>
  all.flatMap((e) => (e.kind === 'chat' ? [e.payload.message] : []))

/** Expects every seq from the first one on, once and in order. */
function expectNoGap({ all }: EnvelopeRecorder): void {
  const seqs = all.map(({ seq = 0 }) => seq)
  expect(seqs).toEqual(seqs.map((_, index) => (seqs[0] ?? 0) + index))
}

const numbers = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${from + n}`)

let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'meup-reconnect-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const stores: [string, () => OpenStore][] = [
  ['a log in memory', lastingMemory],
  ['a log on disk', () => () => sqliteStore({ path: join(directory, 'log.db') })],
]

describe.each(stores)('a gateway that restarts, with %s', (_, open) => {
  test('costs nobody an envelope, and shows none twice', async () => {
    await using gateway = await standing({ participants }, open())
    await using ana = await enter(gateway.url, 'ana')
    await using bob = await enter(gateway.url, 'bob')
    const heard = recordEnvelopes(ana)
    for (const text of numbers(0, 5)) await bob.chat(text)
    const down = [reconnecting(ana), reconnecting(bob)]
    await gateway.stop()
    expect(await Promise.all(down)).toEqual(Array(2).fill(expect.stringContaining('(1001)')))
    const sent = Promise.all(numbers(5, 20).map((text) => bob.chat(text)))
    const again = welcomed(ana)
    await gateway.start()
    const echoes = await sent
    await again
    const last = await bob.chat('25')
    await heard.until(byId(last.id))
    expect(texts(heard.all)).toEqual(numbers(0, 26))
    expectNoGap(heard)
    expect(heard.all).toEqual(expect.arrayContaining(echoes))
    expect(ana.welcome.resume).toMatchObject({ status: 'replaying' })
  })
})

describe('a gateway that restarts', () => {
  test('leaves requests, turns and subscriptions as they were', async () => {
    await using gateway = await standing({ participants })
    await using ana = await enter(gateway.url, 'ana')
    await using bot = await enter(gateway.url, 'bot')
    const [begun, go] = [deferred(), deferred()]
    bot.tool('slow', {}, async () => {
      begun.resolve()
      await go.promise
      return 'done'
    })
    await ana.subscribe({ reasoning: 'none' })
    const turns = bot.turns()
    const asked = ana.call('bot/slow')
    await begun.promise
    const down = Promise.all([reconnecting(ana), reconnecting(bot)])
    await gateway.stop()
    await down
    const question = ana.chat('still there?')
    go.resolve()
    await gateway.start()
    expect((await asked).text).toBe('done')
    const { value: turn } = await turns.next()
    expect(turn?.trigger.id).toBe((await question).id)
    await eventually(() => expect(ana.welcome.subscription.reasoning).toBe('none'))
  })

  test('with another log says so, and begins at its beginning', async () => {
    await using gateway = await standing({ participants })
    await using ana = await enter(gateway.url, 'ana')
    await ana.chat('forgotten')
    const { epoch } = ana.welcome.space
    const [heard, lost] = [recordEnvelopes(ana), new Promise((resolve) => ana.once('lost', resolve))]
    await gateway.stop()
    await gateway.start(lastingMemory())
    expect(await lost).toMatchObject({ resume: { status: 'lost', from: 1 } })
    expect(ana.welcome.space.epoch).not.toBe(epoch)
    const { id } = await ana.chat('new')
    await heard.until(byId(id))
    const first = heard.all.findIndex(({ seq }) => seq === 1)
    expect(heard.all.slice(first).map(({ seq }) => seq)).toEqual(heard.all.slice(first).map((_, n) => n + 1))
    expect(texts(heard.all)).toEqual(['new'])
  })

  test('and no longer knows the token ends the seat', async () => {
    await using gateway = await standing({ participants })
    await using stranger = await standing({ participants: { ana: ['*'] } })
    await using line = await proxy(gateway.port)
    await using bob = await enter(line.url, 'bob')
    const closed = new Promise((resolve) => bob.once('closed', resolve))
    await line[Symbol.asyncDispose]()
    await using _other = await proxyAt(line.url, stranger.port)
    expect(await closed).toMatchObject({ name: 'ProtocolError', code: 'unauthorized' })
    await expect(bob.chat('anyone?')).rejects.toMatchObject({ code: 'closed' })
  })
})

/** Starts a proxy at the same address, in front of another gateway. */
const proxyAt = (url: string, port: number) => proxy(port, Number(new URL(url).port))

describe('a bad line', () => {
  test('cut again and again, loses nothing, repeats nothing and keeps the order', async () => {
    await using gateway = await standing({ participants })
    await using line = await proxy(gateway.port)
    await using ana = await enter(line.url, 'ana')
    await using bob = await enter(line.url, 'bob')
    await using witness = await enter(gateway.url, 'bot')
    const [heard, log] = [recordEnvelopes(ana), recordEnvelopes(witness)]
    const count = 400
    const sent: Promise<AnyEnvelope>[] = []
    for (const text of numbers(0, count)) {
      sent.push(bob.chat(text))
      if (Number(text) % 7 === 0) await log.until((e) => texts([e]).includes(text))
      if (Number(text) % 50 === 49) line.cut()
    }
    const echoes = await Promise.all(sent)
    for (const hearing of [heard, log]) {
      await hearing.until(byId(echoes.at(-1)?.id ?? ''))
      expect(texts(hearing.all)).toEqual(numbers(0, count))
      expectNoGap(hearing)
    }
    expect(log.all).toEqual(expect.arrayContaining(echoes))
  })

  test('a request that was given up while it was cut does not go on at the other end', async () => {
    await using gateway = await standing({ participants })
    await using line = await proxy(gateway.port)
    await using ana = await enter(line.url, 'ana')
    await using bot = await enter(gateway.url, 'bot')
    const [heard, working] = [recordEnvelopes(bot), new Set<AbortSignal>()]
    bot
      .tool('now', {}, () => 'now')
      .tool('wait', {}, async (_, { signal }) => {
        working.add(signal)
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      })
    const down = reconnecting(ana)
    line.cut()
    await down
    const stop = new AbortController()
    const asked = expect(ana.call('bot/wait', {}, { signal: stop.signal })).rejects.toMatchObject({
      code: 'aborted',
    })
    stop.abort('too slow')
    await asked
    await ana.call('bot/now')
    expect([...working].filter(({ aborted }) => !aborted)).toEqual([])
    const methods = heard.all.flatMap((e) => (e.kind === 'mcp.request' ? [e.payload.method] : []))
    expect(methods).toEqual(['tools/call', 'notifications/cancelled', 'tools/call'])
  })
})

describe('a gateway that closes for a reason', () => {
  /** A gateway that closes each connection with this code. */
  async function closing(code: number) {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    let connections = 0
    server.on('connection', (socket) => {
      connections++
      socket.send(JSON.stringify(fromGateway('system.welcome', makeWelcome('ana'))))
      socket.on('message', () => socket.close(code, 'because'))
    })
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    return { url: `http://127.0.0.1:${port}`, connections: () => connections, close: () => server.close() }
  }

  test.each([
    [4401, 'unauthorized'],
    [4403, 'forbidden'],
  ])('%i is the end: %s', async (code, refusal) => {
    const server = await closing(code)
    const ana = await enter(server.url, 'ana')
    const closed = new Promise((resolve) => ana.once('closed', resolve))
    await expect(ana.chat('hello')).rejects.toMatchObject({ name: 'ProtocolError', code: refusal })
    expect(await closed).toMatchObject({ message: `because (${code})` })
    expect(server.connections()).toBe(1)
    server.close()
  })

  test('4410 is not', async () => {
    const server = await closing(4410)
    const ana = await enter(server.url, 'ana')
    const [down, up] = [reconnecting(ana), welcomed(ana)]
    const sent = ana.chat('hello').catch(({ code }: { code: string }) => code)
    expect(await down).toBe('because (4410)')
    await up
    expect(server.connections()).toBe(2)
    ana.close()
    expect(await sent).toBe('closed')
    server.close()
  })
})
