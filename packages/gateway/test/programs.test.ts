import { memoryStore } from '@meup/gateway'
import { createTestDraft, FakeClock } from '@meup/gateway/testing'
import { type Envelope, GATEWAY } from '@meup/protocol'
import { describe, expect, test, vi } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { parseEnvelope } from '../src/log/entries.js'
import { type Client, freshId, ofKind, presence, type Sent } from './client.js'
import { asking } from './http-client.js'
import { SharedMemory } from './shared-memory.js'
import { type StartOptions, start } from './support.js'
import { begin, call, chat, thought } from './turns.js'

const participants = { ana: ['*'], ben: ['*'], tool: ['mcp.*'], cleo: ['*'] }
const abandonAfterMs = 60_000

async function stage(options: Partial<StartOptions> = {}) {
  const clock = new FakeClock()
  const running = await start({ participants, humans: ['ana', 'cleo'], clock, ...options })
  const as = (participant: string, session?: string) =>
    running.connect(participant, session === undefined ? {} : { query: `session=${session}` })
  return { ...running, clock, as, ana: await as('ana') }
}

const bye = (client: Client): Promise<unknown> => {
  client.ws.close(1000, 'bye')
  return client.closed
}
const crash = (client: Client): Promise<unknown> => {
  client.ws.terminate()
  return client.closed
}

const cancelled = ({ kind, from }: Envelope): boolean => kind === 'reasoning.cancel' && from === GATEWAY
const programIs =
  (event: string, session: string) =>
  ({ kind, payload }: Envelope): boolean => {
    const named = payload.session as { id: string; event: string } | undefined
    return kind === 'system.presence' && named?.id === session && named.event === event
  }

/** Sends a chat and waits for it, so that the effects of everything sent before have arrived. */
async function settled(reader: Client): Promise<readonly Envelope[]> {
  await reader.accepted(chat(freshId(), 'fence'))
  return reader.frames
}

const approve = (proposal: string): Sent => ({ kind: 'mcp.request', correlationId: proposal, payload: {} })

describe('a session', () => {
  test('is told in the welcome, in the log, and by what begins a run, calls or proposes', async () => {
    const { as, ana } = await stage()
    const ben = await as('ben', 's1')
    await as('tool')
    expect(ben.welcome.you).toMatchObject({ id: 'ben', session: 's1' })
    expect(ana.welcome.you).not.toHaveProperty('session')
    expect((await ana.next(presence('join', 'ben'))).payload).toMatchObject({
      session: { id: 's1', event: 'begun' },
    })
    expect(await ben.accepted(begin('run', undefined, 'hm'))).toMatchObject({ session: 's1' })
    expect(await ben.accepted(call('c1', 'run', 'look', 'why'))).toMatchObject({ session: 's1' })
    const proposal = { id: 'p1', kind: 'mcp.proposal', to: ['tool'], payload: { method: 'tools/call' } }
    expect(await ben.accepted(proposal)).toMatchObject({ session: 's1' })
    expect(await ben.accepted(approve('p1'))).toMatchObject({ session: 's1' })
    for (const other of [thought('run', 'hm'), chat('hi', 'hi')])
      expect(await ben.accepted(other)).not.toHaveProperty('session')
    const cancel = { method: 'notifications/cancelled', params: { requestId: 'c1' } }
    expect(
      await ben.accepted({ kind: 'mcp.request', to: ['tool'], payload: { jsonrpc: '2.0', ...cancel } }),
    ).not.toHaveProperty('session')
  })

  test('is set by the gateway alone, and a retry repeats none', async () => {
    const { as } = await stage()
    const ben = await as('ben', 's1')
    expect(await ben.refused({ ...begin('x', undefined, 'hm'), session: 's1' })).toMatchObject({
      code: 'invalid_envelope',
      details: { path: '/session' },
    })
    const first = await ben.accepted(begin('run', undefined, 'hm'))
    expect(await ben.accepted(begin('run', undefined, 'hm'))).toEqual(first)
  })

  test('has a name that an id may have', async () => {
    const { connectRequest } = await stage()
    for (const bad of ['', 'a b', 'ä', 'x'.repeat(65), 'a/b']) {
      const query = `session=${encodeURIComponent(bad)}`
      expect(await connectRequest({ token: 'token-of-ben', query }), bad).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      })
    }
  })

  test('is the one of all its connections: it begins and ends once', async () => {
    const { as, ana, clock } = await stage()
    const [one, two] = [await as('ben', 's1'), await as('ben', 's1')]
    await one.accepted(begin('run', undefined, 'hm'))
    await bye(one)
    clock.advance(2 * abandonAfterMs)
    await bye(two)
    await ana.next(programIs('ended', 's1'))
    const sessions = ana.frames.filter(({ payload }) => payload.session !== undefined)
    expect(sessions.map(({ payload }) => (payload.session as { event: string }).event)).toEqual([
      'begun',
      'ended',
    ])
  })

  test('of another participant is another one, though it has the same name', async () => {
    const { as, ana, clock } = await stage()
    const [ben, tool] = [await as('ben', 'same'), await as('tool', 'same')]
    await ben.accepted(begin('run', undefined, 'hm'))
    await bye(tool)
    await ana.next(programIs('ended', 'same'))
    clock.advance(2 * abandonAfterMs)
    expect((await settled(ana)).filter(cancelled)).toEqual([])
  })
})

describe('a program that ends', () => {
  test('by its own word ends its runs at once, and whoever asked for one learns of it', async () => {
    const { as, ana } = await stage()
    const ben = await as('ben', 's1')
    await ana.accepted(chat('ask', 'why?'))
    await ben.accepted(begin('run', 'ask', 'hm'))
    await ben.accepted(begin('inner', undefined, 'hm', { context: 'run' }))
    await bye(ben)
    expect(await ana.next(cancelled)).toMatchObject({
      from: GATEWAY,
      context: 'run',
      correlationId: 'ask',
      payload: { reason: 'program-ended' },
    })
    const end = await ana.next(programIs('ended', 's1'))
    expect(end.payload).toMatchObject({ event: 'update', participant: { id: 'ben' } })
    await ana.next(presence('leave', 'ben'))
    expect((await settled(ana)).filter(cancelled)).toHaveLength(1)
  })

  test('without a word has ended when it has been away for long', async () => {
    const { as, ana, clock } = await stage()
    const ben = await as('ben', 's1')
    await ben.accepted(begin('run', undefined, 'hm'))
    await crash(ben)
    await ana.next(presence('leave', 'ben'))
    clock.advance(abandonAfterMs - 1)
    expect((await settled(ana)).filter(cancelled)).toEqual([])
    clock.advance(1)
    expect(await ana.next(cancelled)).toMatchObject({ context: 'run', payload: { reason: 'program-ended' } })
    await ana.next(programIs('ended', 's1'))
  })

  verifies('O01', 'leaves no run open, though its participant comes back with another one', async () => {
    const { as, ana, url } = await stage()
    await ana.accepted(chat('ask', 'why?'))
    const ben = await as('ben', 's1')
    await ben.accepted(begin('run', 'ask', 'hm'))
    await crash(ben)
    await ana.next(presence('leave', 'ben'))
    await as('ben', 's2')
    expect(await ana.next(cancelled)).toMatchObject({ context: 'run', correlationId: 'ask' })
    const { json } = asking(url, 'ana')
    expect(await json('/contexts')).toMatchObject({ contexts: [{ context: 'run', state: 'cancelled' }] })
    expect(await json('/turns?thread_id=test/ben')).toMatchObject({ turns: [{ state: 'abandoned' }] })
  })

  test('and slept for 59 s goes on, for 61 s begins again', async () => {
    const { as, ana, clock } = await stage()
    let ben = await as('ben', 's1')
    await ben.accepted(begin('run', undefined, 'hm'))
    await crash(ben)
    await ana.next(presence('leave', 'ben'))
    clock.advance(59_000)
    ben = await as('ben', 's1')
    clock.advance(2 * abandonAfterMs)
    expect((await settled(ana)).filter(cancelled)).toEqual([])
    await crash(ben)
    await ana.next(presence('leave', 'ben'))
    clock.advance(61_000)
    await ana.next(programIs('ended', 's1'))
    await as('ben', 's1')
    await ana.next(programIs('begun', 's1'))
  })

  test('is not taken for ended by reconnecting each 10 s for an hour', async () => {
    const { as, ana, clock } = await stage()
    let ben = await as('ben', 's1')
    await ben.accepted(begin('run', undefined, 'hm'))
    for (let seconds = 0; seconds < 3600; seconds += 100) {
      await crash(ben)
      clock.advance(10_000)
      ben = await as('ben', 's1')
      clock.advance(90_000)
    }
    const sessions = (await settled(ana)).filter(({ payload }) => payload.session !== undefined)
    expect(sessions).toHaveLength(1)
    expect(ana.frames.filter(cancelled)).toEqual([])
  })

  test('ends when its process does, though its connection is left', async () => {
    const { as, ana, gateway } = await stage()
    const ben = await as('ben', 's1')
    await ben.accepted(begin('run', undefined, 'hm'))
    gateway.endProgram('test', 'ben', 's1')
    expect(await ana.next(cancelled)).toMatchObject({ context: 'run' })
    await ana.next(programIs('ended', 's1'))
    for (const [space, id, session] of [
      ['other', 'ben', 's1'],
      ['test', 'nobody', 's1'],
      ['test', 'ben', 'unknown'],
      ['test', 'ben', 's1'],
    ] as const)
      gateway.endProgram(space, id, session)
    expect((await settled(ana)).filter(programIs('ended', 's1'))).toHaveLength(1)
  })

  test('leaves a private run private', async () => {
    const { as, ana } = await stage()
    const [ben, cleo] = [await as('ben', 's1'), await as('cleo')]
    await ana.accepted(chat('ask', 'psst', { to: ['ben'] }))
    await ben.accepted(begin('run', 'ask', 'hm'))
    await bye(ben)
    expect(await ana.next(cancelled)).toMatchObject({
      context: 'run',
      to: expect.arrayContaining(['ana', 'ben']),
    })
    expect((await settled(cleo)).filter(cancelled)).toEqual([])
  })

  test('ends its run when somebody asks it to stop and it is not there', async () => {
    const { as, ana } = await stage()
    const ben = await as('ben', 's1')
    await ben.accepted(begin('run', undefined, 'hm'))
    await ana.accepted({ kind: 'reasoning.cancel', context: 'run', payload: { reason: 'enough' } })
    expect((await settled(ana)).filter(cancelled)).toEqual([])
    await crash(ben)
    await ana.next(presence('leave', 'ben'))
    await ana.accepted({ kind: 'reasoning.cancel', context: 'run', payload: { reason: 'enough' } })
    expect(await ana.next(cancelled)).toMatchObject({ context: 'run', payload: { reason: 'program-ended' } })
    await as('ben', 's1')
    expect((await settled(ana)).filter(cancelled)).toHaveLength(1)
  })

  test('of a guest ends the runs of the guest', async () => {
    const { dial, ana, clock } = await stage({ guest: { capabilities: ['*'] } })
    const guest = await dial({ query: 'session=g1' })
    const { id } = guest.welcome.you
    await guest.accepted(begin('run', undefined, 'hm'))
    await crash(guest)
    await ana.next(presence('leave', id))
    clock.advance(abandonAfterMs)
    expect(await ana.next(cancelled)).toMatchObject({ context: 'run', payload: { reason: 'program-ended' } })
  })
})

describe('a call to a participant whose program has ended', () => {
  const ask = (id: string, to: string[], jsonRpcId = `"${id}"`): string =>
    `{"id":"${id}","kind":"mcp.request","to":${JSON.stringify(to)},"payload":{"jsonrpc":"2.0","id":${jsonRpcId},"method":"tools/list"}}`

  test('is answered by the gateway, with the id as it was sent; others may still answer', async () => {
    const { as, ana } = await stage()
    const [ben, tool] = [await as('ben', 's1'), await as('tool')]
    ana.send(ask('c1', ['ben', 'tool'], '12345678901234567890.50'))
    await ben.next(({ id }) => id === 'c1')
    await bye(ben)
    const answer = await ana.next(ofKind('mcp.response'))
    expect(answer).toMatchObject({
      from: GATEWAY,
      to: ['ana'],
      correlationId: 'c1',
      payload: {
        jsonrpc: '2.0',
        error: { code: -32000, data: { code: 'program_ended', participant: 'ben' } },
      },
    })
    expect(ana.texts.get(answer)).toContain('"id":12345678901234567890.50')
    const response = { jsonrpc: '2.0', id: 1, result: {} }
    await tool.accepted({ kind: 'mcp.response', to: ['ana'], correlationId: 'c1', payload: response })
    const again = await as('ben', 's2')
    expect(
      await again.refused({ kind: 'mcp.response', to: ['ana'], correlationId: 'c1', payload: response }),
    ).toMatchObject({ code: 'forbidden' })
  })

  test('waits as long as another program of it runs, and for one that is away', async () => {
    const { as, ana } = await stage()
    const [one, two] = [await as('cleo', 's1'), await as('cleo', 's2')]
    ana.send(ask('c1', ['cleo']))
    await two.next(({ id }) => id === 'c1')
    await bye(one)
    await ana.next(programIs('ended', 's1'))
    await bye(two)
    expect(await ana.next(ofKind('mcp.response'))).toMatchObject({ correlationId: 'c1' })
    ana.send(ask('c2', ['cleo']))
    expect((await settled(ana)).filter(ofKind('mcp.response'))).toHaveLength(1)
  })

  test('in a private run is answered to its caller alone', async () => {
    const { as, ana } = await stage()
    const [ben, tool, cleo] = [await as('ben', 's1'), await as('tool', 't1'), await as('cleo')]
    await ana.accepted(chat('ask', 'psst', { to: ['ben'] }))
    await ben.accepted(begin('run', 'ask', 'hm'))
    await ben.accepted(call('c1', 'run', 'look', 'why'))
    await bye(tool)
    expect(await ben.next(ofKind('mcp.response'))).toMatchObject({ correlationId: 'c1', context: 'run' })
    expect((await settled(cleo)).filter(ofKind('mcp.response'))).toEqual([])
  })
})

describe('another program of the same participant', () => {
  test('takes over: the first is closed 4412 and comes no more, and its runs end', async () => {
    const { as, ana, connectRequest, gateway } = await stage()
    const first = await as('ben', 's1')
    await first.accepted(begin('run', undefined, 'hm'))
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    await ana.accepted({ id: 'c1', kind: 'mcp.request', to: ['ben'], payload: call })
    const second = await as('ben', 's2')
    expect(await first.closed).toMatchObject({ code: 4412 })
    expect(await ana.next(cancelled)).toMatchObject({ context: 'run', payload: { reason: 'program-ended' } })
    expect(await ana.next(ofKind('mcp.response'))).toMatchObject({ correlationId: 'c1', from: GATEWAY })
    const replaced = await ana.next(programIs('replaced', 's1'))
    expect(replaced.payload.session).toEqual({ id: 's1', event: 'replaced' })
    await ana.next(programIs('begun', 's2'))
    expect(gateway.isReplaced('test', 'ben', 's1')).toBe(true)
    expect(gateway.isReplaced('test', 'ben', 's2')).toBe(false)
    expect(await connectRequest({ token: 'token-of-ben', query: 'session=s1' })).toMatchObject({
      status: 409,
      body: { code: 'session_replaced' },
    })
    await second.accepted(begin('next', undefined, 'hm'))
    expect((await settled(ana)).filter(cancelled)).toHaveLength(1)
  })

  test('is one of many where the operator says so, and for humans', async () => {
    const many = { kind: 'agent', capabilities: ['*'], programs: 'many' as const }
    const { as, ana } = await stage({ participants: { ...participants, ben: many } })
    for (const id of ['ben', 'cleo']) {
      const [first] = [await as(id, 's1'), await as(id, 's2')]
      await first.accepted(chat(freshId(), 'still here'))
    }
    expect((await settled(ana)).filter(programIs('replaced', 's1'))).toEqual([])
  })

  test('is one where the operator says so of a human', async () => {
    const one = { kind: 'human', capabilities: ['*'], programs: 'one' as const }
    const { as } = await stage({ participants: { ...participants, cleo: one } })
    const first = await as('cleo', 's1')
    await as('cleo', 's2')
    expect(await first.closed).toMatchObject({ code: 4412 })
  })

  test('that names no session neither replaces nor is replaced, nor does what comes over HTTP', async () => {
    const { as, ana, post } = await stage()
    const [named, unnamed] = [await as('ben', 's1'), await as('ben')]
    await post('ben', chat('posted', 'hi'))
    await named.accepted(begin('run', undefined, 'hm'))
    await unnamed.accepted(chat('one', 'hi'))
    await as('ben', 's2')
    await named.closed
    await unnamed.accepted(chat('two', 'hi'))
    expect((await settled(ana)).filter(programIs('replaced', 's1'))).toHaveLength(1)
  })

  test('that is replaced again within a minute is told to the operator, and everybody; later it is not', async () => {
    const warn = vi.fn()
    const logger = { info: vi.fn(), warn, error: vi.fn() }
    const { as, ana, clock } = await stage({ logger })
    for (const session of ['s1', 's2', 's3', 's4']) await as('ben', session)
    const counts = async () =>
      (await settled(ana)).flatMap(({ payload }) => {
        const named = payload.session as { event: string; count?: number } | undefined
        return named?.event === 'replaced' ? [named.count] : []
      })
    expect(await counts()).toEqual([undefined, 2, 3])
    const warned = () =>
      warn.mock.calls.map(([fields]) => fields.count).filter((count) => count !== undefined)
    expect(warned()).toEqual([2, 3])
    clock.advance(60_001)
    await as('ben', 's5')
    expect(await counts()).toEqual([undefined, 2, 3, undefined])
    expect(warned()).toEqual([2, 3])
  })

  test('refuses what the replaced one has still sent', async () => {
    const { as } = await stage()
    const first = await as('ben', 's1')
    const codes: unknown[] = []
    first.ws.on('message', (data) => {
      const { kind, payload } = JSON.parse(data.toString())
      if (kind === 'system.error') codes.push(payload.code)
    })
    const second = as('ben', 's2')
    for (let n = 0; n < 2000; n++) first.send(chat(freshId(), 'more'))
    await second
    await first.closed
    expect(new Set(codes).size).toBeLessThanOrEqual(1)
    for (const code of codes) expect(code).toBe('session_replaced')
  })
})

describe('several gateways', () => {
  test('close what is replaced wherever it is connected, and log that once', async () => {
    const shared = new SharedMemory()
    const [one, two] = [
      await stage({ store: shared.join('one') }),
      await stage({ store: shared.join('two') }),
    ]
    const first = await one.as('ben', 's1')
    await one.ana.next(programIs('begun', 's1'))
    await first.accepted(begin('run', undefined, 'hm'))
    const other = await two.as('ben', 's1')
    const second = await two.as('ben', 's2')
    expect(await first.closed).toMatchObject({ code: 4412 })
    expect(await other.closed).toMatchObject({ code: 4412 })
    await two.ana.next(programIs('begun', 's2'))
    expect((await settled(one.ana)).filter(programIs('replaced', 's1'))).toHaveLength(1)
    expect(await second.accepted(begin('next', undefined, 'hm'))).toMatchObject({ session: 's2' })
    for (const { connectRequest } of [one, two]) {
      expect(await connectRequest({ token: 'token-of-ben', query: 'session=s1' })).toMatchObject({
        status: 409,
      })
    }
    await bye(second)
    expect(await one.ana.next(programIs('ended', 's2'))).toBeDefined()
  })
})

describe('a restart of the gateway', () => {
  const restartable = async () => {
    const spaces = new Map()
    const clock = new FakeClock()
    const boot = async () => stage({ clock, store: memoryStore(spaces) })
    return { boot, clock }
  }

  test('in the middle of 100 runs ends none, where the programs come back', async () => {
    const { boot, clock } = await restartable()
    const before = await boot()
    const ben = await before.as('ben', 's1')
    for (let n = 0; n < 100; n++) await ben.accepted(begin(`run${n}`, undefined, 'hm'))
    await before.close()
    clock.advance(60_000)
    const { as, ana } = await boot()
    clock.advance(59_000)
    await as('ben', 's1')
    clock.advance(10 * abandonAfterMs)
    expect((await settled(ana)).filter(cancelled)).toEqual([])
  })

  test('ends what is left of programs that do not come back, and of those another has replaced', async () => {
    const { boot, clock } = await restartable()
    const before = await boot()
    const ben = await before.as('ben', 's1')
    await ben.accepted(begin('run', undefined, 'hm'))
    const cleo = await before.as('cleo', 'c1')
    await cleo.accepted(begin('other', undefined, 'hm'))
    await before.close()
    const { as, ana } = await boot()
    await as('ben', 's2')
    expect(await ana.next(cancelled)).toMatchObject({ context: 'run' })
    clock.advance(abandonAfterMs)
    expect(await ana.next(cancelled)).toMatchObject({
      context: 'other',
      payload: { reason: 'program-ended' },
    })
    await ana.next(programIs('ended', 'c1'))
  })
})

describe('what an earlier version left open', () => {
  /** A configuration record as earlier gateways wrote it, without `programs`. */
  const earlier = (payload: Record<string, unknown>): Record<string, unknown> => {
    const { programs: _, ...defaults } = payload.defaults as Record<string, unknown>
    return { ...payload, defaults }
  }

  test('is ended at the next start, and no other run at those after it', async () => {
    const spaces = new Map()
    const store = memoryStore(spaces)
    const before = await stage({ store })
    const ben = await before.as('ben')
    await ben.accepted(begin('old', undefined, 'hm'))
    await before.close()
    const log = await memoryStore(spaces).open('test')
    const rows = await log.read({ after: 0, limit: 100 })
    const old = memoryStore()
    const copy = await old.open('test')
    const drafts = rows.map((row) => {
      const { seq, ...envelope } = parseEnvelope(row)
      const isConfigured = envelope.payload.event === 'configured'
      return createTestDraft(
        seq ?? 0,
        isConfigured ? { ...envelope, payload: earlier(envelope.payload) } : envelope,
      )
    })
    await copy.append(drafts)
    const kept = { ...old, close: async () => {} }
    const next = await stage({ store: kept })
    const ended = async ({ url }: { url: string }) => {
      const { contexts } = (await asking(url, 'ana').json('/contexts')) as { contexts: { state: string }[] }
      return contexts.map(({ state }) => state)
    }
    expect(await ended(next)).toEqual(['cancelled'])
    const again = await next.as('ben')
    await again.accepted(begin('new', undefined, 'hm'))
    await next.close()
    expect(await ended(await stage({ store: kept }))).toEqual(['cancelled', 'open'])
  })
})

describe('a run without a program', () => {
  test('that was opened over HTTP ends a while after the last that its owner has sent in it', async () => {
    const { post, ana, clock } = await stage()
    await post('ben', begin('run', undefined, 'hm'))
    clock.advance(50_000)
    await post('ben', thought('run', 'still here'))
    clock.advance(59_000)
    expect((await settled(ana)).filter(cancelled)).toEqual([])
    clock.advance(1000)
    expect(await ana.next(cancelled)).toMatchObject({ context: 'run', payload: { reason: 'abandoned' } })
  })

  test('is not ended while its owner has a connection, whatever that names', async () => {
    const { post, ana, clock, as } = await stage()
    const ben = await as('ben', 's1')
    await post('ben', begin('run', undefined, 'hm'))
    clock.advance(10 * abandonAfterMs)
    expect((await settled(ana)).filter(cancelled)).toEqual([])
    await bye(ben)
    await ana.next(presence('leave', 'ben'))
    clock.advance(abandonAfterMs)
    expect(await ana.next(cancelled)).toMatchObject({ context: 'run', payload: { reason: 'abandoned' } })
  })
})

describe('a proposal whose proposer’s program has ended', () => {
  const proposal = { id: 'p1', kind: 'mcp.proposal', to: ['tool'], payload: { method: 'tools/call' } }

  test('says so in welcomes and over HTTP, and stays open', async () => {
    const { as, ana, url } = await stage()
    const ben = await as('ben', 's1')
    await ben.accepted(proposal)
    const listed = async () =>
      ((await asking(url, 'ana').json('/proposals')) as { proposals: Record<string, unknown>[] }).proposals
    expect((await as('ana')).welcome.proposals).toEqual([expect.not.objectContaining({ programEnded: true })])
    expect(await listed()).toEqual([expect.not.objectContaining({ programEnded: true })])
    await bye(ben)
    await ana.next(programIs('ended', 's1'))
    expect((await as('ana')).welcome.proposals).toMatchObject([{ id: 'p1', programEnded: true }])
    expect(await listed()).toMatchObject([{ id: 'p1', programEnded: true }])
    await as('ben', 's2')
    expect((await as('ana')).welcome.proposals).toMatchObject([{ id: 'p1', programEnded: true }])
    await ana.accepted(approve('p1'))
  })
})
