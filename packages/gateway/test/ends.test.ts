import { memoryStore, sqliteStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import type { Envelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { SpaceState } from '../src/core/state/state.js'
import { byId, type Client, type Sent } from './client.js'
import { faultyDisk } from './faulty-disk.js'
import { start, temporaryFile } from './support.js'

const participants = { ana: ['*'], bot: ['*'], cem: ['chat'], eve: ['*', 'observe.targeted'] }
const soon = (clock: FakeClock, ms = 1000): string => new Date(clock.now() + ms).toISOString()
const chat = { kind: 'chat', payload: { message: 'mark' } }
const isEnd = ({ kind, payload }: Envelope): boolean =>
  kind === 'system.presence' && payload.ended !== undefined
const ends = ({ frames }: Client) =>
  frames.filter(isEnd).map(({ to, payload: { event, participant, ended } }) => ({
    ...(to && { to: [...to].sort() }),
    event,
    of: (participant as { id: string }).id,
    ...(ended as { what: string; id: string }),
  }))
const isEndOf =
  (id: string) =>
  ({ payload }: Envelope): boolean =>
    (payload.ended as { id?: string } | undefined)?.id === id

async function enter(options: Partial<Parameters<typeof start>[0]> = {}) {
  const clock = (options.clock as FakeClock | undefined) ?? new FakeClock()
  const running = await start({ participants, ...options, clock })
  const connect = (id: string, query?: string) => running.connect(id, query === undefined ? {} : { query })
  const [ana, bot, cem, eve] = [
    await connect('ana'),
    await connect('bot'),
    await connect('cem'),
    await connect('eve'),
  ]
  const all = [ana, bot, cem, eve]
  /** Expiry notices that each participant has received, once all envelopes are delivered. */
  const announced = async () => {
    const { id } = await ana.accepted(chat)
    await Promise.all([bot, cem, eve].map((each) => each.next(byId(id))))
    return all.map(ends)
  }
  return { ...running, clock, ana, bot, cem, eve, announced }
}

const pause = (id: string, to = ['bot']): Sent => ({
  id,
  kind: 'participant.pause',
  to,
  payload: { timeoutSeconds: 1 },
})
const grant = (id: string, clock: FakeClock, more: object = {}): Sent => ({
  id,
  kind: 'capability.grant',
  payload: { recipient: 'cem', capabilities: ['mcp.request'], expiresAt: soon(clock) },
  ...more,
})
const propose = (id: string, clock: FakeClock, more: object = {}): Sent => ({
  id,
  kind: 'mcp.proposal',
  payload: { method: 'ping', expiresAt: soon(clock) },
  ...more,
})

describe('an end by time is told once [MEUP-3.28]', () => {
  test('that of a pause, to those who may read it', async () => {
    const { ana, clock, bot, announced } = await enter()
    await ana.accepted(pause('p1'))
    clock.advance(999)
    expect(await announced()).toEqual([[], [], [], []])
    clock.advance(1)
    await bot.next(isEndOf('p1'))
    const end = { to: ['ana', 'bot'], event: 'update', of: 'bot', what: 'pause', id: 'p1' }
    clock.advance(60_000)
    expect(await announced()).toEqual([[end], [end], [], [end]])
  })

  test('that of a grant, to everyone', async () => {
    const { ana, clock, announced } = await enter()
    await ana.accepted(grant('g1', clock))
    clock.advance(1000)
    await ana.next(isEndOf('g1'))
    clock.advance(60_000)
    const end = { event: 'update', of: 'cem', what: 'grant', id: 'g1' }
    expect(await announced()).toEqual([[end], [end], [end], [end]])
  })

  test('that of a grant that is for some alone, to them', async () => {
    const { ana, clock, announced } = await enter()
    await ana.accepted(grant('g1', clock, { to: ['cem'] }))
    clock.advance(1000)
    await ana.next(isEndOf('g1'))
    const end = { to: ['ana', 'cem'], event: 'update', of: 'cem', what: 'grant', id: 'g1' }
    expect(await announced()).toEqual([[end], [], [end], [end]])
  })

  test('that of an invitation, as that of its grant', async () => {
    const { ana, clock, announced } = await enter()
    const payload = { participantId: 'gil', capabilities: ['chat'], expiresAt: soon(clock) }
    await ana.accepted({ id: 'i1', kind: 'space.invite', payload })
    clock.advance(1000)
    await ana.next(isEndOf('i1'))
    clock.advance(60_000)
    expect((await announced())[1]).toEqual([{ event: 'update', of: 'gil', what: 'grant', id: 'i1' }])
  })

  test('that of a proposal, to everyone', async () => {
    const { bot, clock, announced } = await enter()
    await bot.accepted(propose('p1', clock))
    clock.advance(1000)
    await bot.next(isEndOf('p1'))
    clock.advance(60_000)
    const end = { event: 'update', of: 'bot', what: 'proposal', id: 'p1' }
    expect(await announced()).toEqual([[end], [end], [end], [end]])
  })

  test('that of a proposal in a private run, to those who may read it', async () => {
    const { ana, bot, clock, announced } = await enter({ participants: { ...participants, eve: ['chat'] } })
    await ana.accepted({ id: 'q1', kind: 'chat', to: ['bot'], payload: { message: 'what is it?' } })
    await bot.accepted({ id: 'r1', kind: 'reasoning.start', correlationId: 'q1' })
    await bot.accepted(propose('p1', clock, { context: 'r1' }))
    clock.advance(1000)
    await bot.next(isEndOf('p1'))
    const end = { to: ['ana', 'bot'], event: 'update', of: 'bot', what: 'proposal', id: 'p1' }
    expect(await announced()).toEqual([[end], [end], [], []])
  })

  test('of several paused at once, for each that still is', async () => {
    const { ana, bot, clock, announced } = await enter()
    await ana.accepted(pause('p1', ['bot', 'cem', 'eve']))
    await ana.accepted({ kind: 'participant.resume', to: ['cem'] })
    await ana.accepted({ kind: 'participant.pause', to: ['eve'], payload: {} })
    clock.advance(1000)
    await bot.next(isEndOf('p1'))
    expect((await announced())[0]?.map(({ of }) => of)).toEqual(['bot'])
  })

  test('in time, though something else ends later or was added before', async () => {
    const { ana, clock, announced } = await enter()
    await ana.accepted({ ...pause('late'), payload: { timeoutSeconds: 3600 } })
    await ana.accepted(propose('p1', clock))
    await ana.accepted(
      grant('g1', clock, {
        payload: { recipient: 'cem', capabilities: ['chat'], expiresAt: soon(clock, 2000) },
      }),
    )
    clock.advance(1000)
    await ana.next(isEndOf('p1'))
    clock.advance(1000)
    await ana.next(isEndOf('g1'))
    clock.advance(3_600_000)
    await ana.next(isEndOf('late'))
    expect((await announced())[0]?.map(({ id }) => id)).toEqual(['p1', 'g1', 'late'])
  })

  test('of more than go at once, of all of them', async () => {
    const { bot, clock } = await enter()
    for (let n = 0; n < 300; n++) bot.send(propose(`p${n}`, clock))
    await bot.next(byId('p299'))
    clock.advance(1000)
    await bot.next(isEndOf('p255'))
    clock.advance(2000)
    await bot.next(isEndOf('p299'))
    expect(new Set(ends(bot).map(({ id }) => id)).size).toBe(300)
    expect(ends(bot)).toHaveLength(300)
  })
})

describe('no end by time is told', () => {
  const cases: Record<string, (running: Awaited<ReturnType<typeof enter>>) => Promise<unknown>> = {
    'of a pause that somebody resumed': async ({ ana }) => {
      await ana.accepted(pause('p1'))
      await ana.accepted({ kind: 'participant.resume', to: ['bot'] })
    },
    'of a grant that was revoked': async ({ ana, clock }) => {
      await ana.accepted(grant('g1', clock))
      await ana.accepted({ kind: 'capability.revoke', payload: { recipient: 'cem', grantId: 'g1' } })
    },
    'of a grant that was declined': async ({ ana, cem, clock }) => {
      await ana.accepted(grant('g1', clock))
      const payload = { status: 'declined' }
      await cem.accepted({ kind: 'capability.grant-ack', correlationId: 'g1', payload })
    },
    'of a proposal that was withdrawn': async ({ bot, clock }) => {
      await bot.accepted(propose('p1', clock))
      await bot.accepted({ kind: 'mcp.withdraw', correlationId: 'p1', payload: { reason: 'other' } })
    },
    'of a proposal that was fulfilled': async ({ ana, bot, clock }) => {
      await bot.accepted(propose('p1', clock))
      await ana.accepted({ kind: 'mcp.request', correlationId: 'p1' })
    },
    'of what has no end': async ({ ana }) => {
      await ana.accepted({ kind: 'participant.pause', to: ['bot'], payload: {} })
      await ana.accepted({
        kind: 'capability.grant',
        payload: { recipient: 'cem', capabilities: ['mcp.request'] },
      })
      await ana.accepted({ kind: 'mcp.proposal', payload: { method: 'ping' } })
    },
  }

  test.for(Object.entries(cases))('%s', async ([, act]) => {
    const running = await enter()
    await act(running)
    running.clock.advance(3_600_000)
    expect(await running.announced()).toEqual([[], [], [], []])
  })
})

/** Stores whose content outlives the gateways that open them. */
const places = {
  'in memory': async () => {
    const store = memoryStore()
    const log = await store.open('test')
    return async () => ({ ...store, open: async () => log, close: async () => {} })
  },
  'on disk, with a checkpoint': async () => {
    const path = temporaryFile('log.db')
    return () => sqliteStore({ path })
  },
}

describe.for(Object.entries(places))('a gateway that starts again, its log %s', ([, place]) => {
  test.for(['meanwhile', 'before'])('tells once of what has ended %s', async (when) => {
    const [clock, open] = [new FakeClock(), await place()]
    const first = await enter({ clock, store: await open() })
    await first.ana.accepted(pause('p1', ['ana']))
    await first.bot.accepted(grant('g1', clock))
    await first.bot.accepted(propose('o1', clock))
    if (when === 'before') {
      clock.advance(1000)
      await first.ana.next(isEndOf('o1'))
    }
    await first.close()
    clock.advance(5000)
    for (const _ of [1, 2]) {
      const again = await start({ participants, clock, store: await open() })
      const ana = await again.connect('ana', { query: 'after=0' })
      await ana.accepted(chat)
      clock.advance(5000)
      await ana.accepted(chat)
      const announced = ends(ana).map(({ id }) => id)
      expect(announced.sort()).toEqual(['g1', 'o1', 'p1'])
      await again.close()
    }
  })
})

test('what the log does not take is told once it does', async () => {
  const disk = faultyDisk(memoryStore())
  const { ana, bot, clock, announced } = await enter({ store: disk.store })
  await ana.accepted(pause('p1'))
  await bot.next(byId('p1'))
  const { appending, fail } = disk.stall()
  clock.advance(1000)
  await appending
  fail()
  await bot.next(isEndOf('p1'))
  clock.advance(60_000)
  expect((await announced())[1]).toHaveLength(1)
})

test('what has ended, and was not told yet, is part of a snapshot', () => {
  const state = new SpaceState()
  const ts = (second: number) => `2026-01-01T00:00:0${second}.000Z`
  const common = { protocol: 'meup/v0.3', from: 'ana' } as const
  const apply = (envelope: Omit<Envelope, 'protocol' | 'from'>) =>
    state.apply({ ...common, ...envelope }, Buffer.from(JSON.stringify(envelope)))
  const agent = { kind: 'agent', capabilities: ['*'] }
  apply({
    id: 'c',
    ts: ts(0),
    kind: 'system.space',
    payload: {
      event: 'configured',
      participants: { ana: agent, bot: agent },
      mcp: { visibility: 'everyone' },
    },
  })
  apply({ id: 'p', ts: ts(0), kind: 'participant.pause', to: ['bot'], payload: { timeoutSeconds: 1 } })
  const given = { recipient: 'bot', capabilities: ['chat'], expiresAt: ts(1) }
  apply({ id: 'g', ts: ts(0), kind: 'capability.grant', payload: given })
  apply({ id: 'o', ts: ts(0), kind: 'mcp.proposal', payload: { method: 'x', expiresAt: ts(1) } })
  apply({ id: 'later', ts: ts(2), kind: 'chat', payload: { message: 'hm' } })
  const restored = SpaceState.from(state.toSnapshot())
  expect(restored.nextEnd).toBeLessThanOrEqual(Date.parse(ts(1)))
  expect(restored.ended(Date.parse(ts(2)))).toEqual([
    { what: 'pause', id: 'p', participant: 'bot' },
    { what: 'grant', id: 'g', participant: 'bot' },
    { what: 'proposal', id: 'o', participant: 'ana' },
  ])
})

test('whoever sets an end pays for what the log will tell of it', async () => {
  const { ana } = await enter({ rates: { ana: { log: { perSecond: 1, burst: 1200 } } } })
  const three = ['bot', 'cem', 'eve']
  await ana.accepted(pause('p1', three))
  expect(await ana.refused(pause('p2', three))).toMatchObject({
    code: 'rate_limited',
    details: { class: 'log' },
  })
})

test('the gateway alone says so', async () => {
  const { ana } = await enter()
  const payload = { event: 'update', participant: { id: 'bot' }, ended: { what: 'pause', id: 'p1' } }
  expect(await ana.refused({ kind: 'system.presence', payload })).toMatchObject({ code: 'reserved_kind' })
})
