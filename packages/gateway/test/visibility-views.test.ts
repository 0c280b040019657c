import { memoryStore, sqliteStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { byId, presence, type Sent, said } from './client.js'
import { asking } from './http-client.js'
import { type Running, start, temporaryFile } from './support.js'
import { begin, chat, conclude, onlookers, participants, show, thought, thoughts } from './visibility.js'

/** The thoughts that a reader finds in the log. HTTP, event streams and sockets must agree. */
async function found({ url, connect }: Pick<Running, 'url' | 'connect'>, reader: string): Promise<string[]> {
  const { envelopes } = await asking(url, reader).history('limit=1000')
  const last = envelopes.at(-1)?.id ?? ''
  const after = `after=${(envelopes[0]?.seq ?? 1) - 1}`
  const lines = await asking(url, reader).lines('limit=1000&order=desc')
  const events = await asking(url, reader).events(after)
  const client = await connect(reader, { query: after })
  const ways = [
    envelopes,
    lines.map((line) => JSON.parse(line)).reverse(),
    await events.envelopesUntil(last),
    await client.until(byId(last)),
  ].map(thoughts)
  events.leave()
  await client.close()
  expect(new Set(ways.map(String)).size).toBe(1)
  return ways[0] ?? []
}

/** Visibility of a run, in the welcome and over HTTP, and its counts: envelopes, thoughts, contributors. */
async function state({ url, connect }: Pick<Running, 'url' | 'connect'>, context = 'run') {
  const client = await connect('ben')
  const received = client.welcome.contexts.find((each) => each.context === context)?.reasoningVisible
  await client.close()
  const { reasoningVisible, counts } = (await asking(url, 'ben').json(`/contexts/${context}`)) as {
    reasoningVisible: boolean
    counts: Record<string, number>
  }
  return { received, reasoningVisible, counts: [counts.envelopes, counts.thoughts, counts.contributors] }
}

describe('every view', () => {
  verifies(
    ['O01', 'O22'],
    'is without the thoughts of a hidden run, and has all of them once it is shown',
    async () => {
      const running = await onlookers()
      const { by, ana, connect } = running
      const helper = await connect('helper')
      await by.accepted(thought('before'))
      await by.accepted(begin('in', 'run'))
      await helper.accepted(thought('along', 'run/in'))
      const all = { received: true, reasoningVisible: true, counts: [3, 2, 2] }
      expect([await state(running), await found(running, 'ben')]).toEqual([all, ['before', 'along']])

      await ana.accepted(show('run', false))
      await by.accepted(thought('during'))
      const hidden = { received: false, reasoningVisible: false, counts: [1, 0, 1] }
      expect(await state(running)).toEqual(hidden)
      expect(await state(running, 'run/in')).toEqual({ ...hidden, counts: [0, 0, 1] })
      for (const reader of ['ben', 'ana', 'auditor']) expect(await found(running, reader)).toEqual([])
      expect(await found(running, 'helper')).toEqual(['along'])
      expect(await found(running, 'agent')).toEqual(['before', 'during'])

      await ana.accepted(show('run', true))
      expect(await state(running)).toEqual({ ...all, counts: [4, 3, 2] })
      for (const reader of ['ben', 'auditor', 'agent', 'helper']) {
        expect(await found(running, reader)).toEqual(['before', 'along', 'during'])
      }
    },
  )

  test('that asks for the last few does not count what it may not read', async () => {
    const { by, connect } = await onlookers()
    await by.accepted(chat('one'))
    await by.accepted(show('run', false))
    await by.accepted(thought('kept'))
    await by.accepted(chat('two'))
    const late = await connect('ben', { query: 'tail=3' })
    expect(said(await late.until(byId('two')))).toContain('one')
    expect(thoughts(late.frames)).toEqual([])
  })

  test('counts whoever comes to do more than think as a contributor, though the thoughts are hidden', async () => {
    const running = await onlookers()
    const { ana, connect } = running
    const helper = await connect('helper')
    await helper.accepted(thought('along'))
    await ana.accepted(show('run', false))
    expect((await state(running)).counts).toEqual([0, 0, 1])
    await helper.accepted({ ...chat('aside'), context: 'run' })
    expect((await state(running)).counts).toEqual([1, 0, 2])
    await ana.accepted(show('run', true))
    expect((await state(running)).counts).toEqual([2, 1, 2])
  })

  test('has two switches a run: the owner hides its own thoughts, others all, and neither moves the other', async () => {
    const running = await onlookers()
    const { by, ana, connect } = running
    const helper = await connect('helper')
    await helper.accepted(begin('in', 'run'))
    await by.accepted(thought('own'))
    await by.accepted(thought('below', 'run/in'))
    await helper.accepted(thought('along', 'run/in'))
    const seen = async () => {
      const { hiddenBy } = (await asking(running.url, 'ben').json('/contexts/run/in')) as {
        hiddenBy?: string[]
      }
      return [await found(running, 'ben'), hiddenBy, (await state(running)).counts]
    }
    const steps: [typeof by, boolean, unknown[]][] = [
      [by, false, [['along'], ['agent'], [2, 1, 2]]],
      [ana, true, [['along'], ['agent'], [2, 1, 2]]],
      [ana, false, [[], ['agent', 'ana'], [1, 0, 2]]],
      [by, true, [[], ['ana'], [1, 0, 2]]],
      [ana, true, [['own', 'below', 'along'], undefined, [4, 3, 2]]],
    ]
    for (const [client, isShown, expected] of steps) {
      await client.accepted(show('run', isShown))
      expect(await seen()).toEqual(expected)
    }
  })
})

describe('a run that is over', () => {
  const ends: [string, Sent][] = [
    ['concluded', conclude()],
    ['cancelled', { kind: 'reasoning.cancel', context: 'run', payload: { reason: 'enough' } }],
  ]
  for (const [how, end] of ends) {
    verifies(['O02', 'O21'], `${how}, is shown with all of it, and the next one begins visible`, async () => {
      const running = await onlookers()
      const { by, ana, thoughtsSeen } = running
      await by.accepted(begin('in', 'run'))
      await by.accepted(show('run', false))
      await by.accepted(thought('hidden'))
      await by.accepted({ kind: 'reasoning.cancel', context: 'run/in' })
      expect(await found(running, 'ben')).toEqual([])
      await by.accepted(end)
      await by.accepted(thought('late'))
      await by.accepted(begin('next'))
      await by.accepted(thought('new', 'next'))
      expect((await thoughtsSeen('new'))[2]).toEqual(['late', 'new'])
      expect(await found(running, 'ben')).toEqual(['hidden', 'late', 'new'])
      expect((await state(running)).reasoningVisible).toBe(true)
      expect(await state(running, 'next')).toMatchObject({ received: true, reasoningVisible: true })
      for (const visible of [true, false]) {
        expect(await ana.refused(show('run', visible))).toMatchObject({ code: 'run_not_active' })
      }
    })
  }

  verifies('O21', 'abandoned, is shown as well', async () => {
    const clock = new FakeClock()
    const running = await onlookers({ clock, reasoning: { abandonAfterMs: 1000 } })
    const { by, ben } = running
    await by.accepted(show('run', false))
    await by.accepted(thought('hidden'))
    await by.close()
    await ben.next(presence('leave', 'agent'))
    expect(await found(running, 'ben')).toEqual([])
    clock.advance(1000)
    await ben.next(({ kind }) => kind === 'reasoning.cancel')
    expect(await found(running, 'ben')).toEqual(['hidden'])
  })
})

describe('after a restart', () => {
  async function hiddenRun() {
    const path = temporaryFile('log.db')
    const open = async () => start({ participants, store: await sqliteStore({ path }) })
    const first = await open()
    const by = await first.connect('agent')
    await by.accepted(begin('run'))
    await by.accepted(show('run', false))
    await by.accepted(thought('hidden'))
    return { first, by, open }
  }

  verifies('O21', 'a run that goes on is as hidden as before, and is forgotten when it ends', async () => {
    const { first, open } = await hiddenRun()
    await first.close()
    const running = await open()
    const [by, ben] = [await running.connect('agent'), await running.connect('ben')]
    expect(await state(running)).toEqual({ received: false, reasoningVisible: false, counts: [0, 0, 1] })
    await by.accepted(thought('more'))
    await by.accepted(chat('mark'))
    expect(thoughts(await ben.until(byId('mark')))).toEqual([])
    expect(await found(running, 'ben')).toEqual([])
    await by.accepted(conclude())
    expect(await found(running, 'ben')).toEqual(['hidden', 'more'])
  })

  verifies('O21', 'nothing is left of a run that ended before', async () => {
    const { first, by, open } = await hiddenRun()
    await by.accepted(conclude())
    await first.close()
    const running = await open()
    expect(await found(running, 'ben')).toEqual(['hidden'])
    const agent = await running.connect('agent')
    await agent.accepted(begin('next'))
    expect(await state(running, 'next')).toMatchObject({ received: true, reasoningVisible: true })
  })

  test('and after its beginning has been pruned, a run is still hidden', async () => {
    const day = 86_400_000
    const clock = new FakeClock()
    const spaces = new Map()
    const open = () => start({ participants, clock, store: memoryStore(spaces), retention: { days: 10 } })
    const first = await open()
    const by = await first.connect('agent')
    await by.accepted(begin('run'))
    await by.accepted(show('run', false))
    clock.advance(9 * day)
    await by.accepted(thought('hidden'))
    clock.advance(2 * day)
    await first.close()
    const running = await open()
    const agent = await running.connect('agent', { query: 'after=0' })
    await agent.next(({ kind, payload }) => kind === 'system.space' && payload.event === 'pruned')
    expect((await state(running)).received).toBe(false)
    await running.close()
    const again = await open()
    expect((await asking(again.url, 'ben').history()).envelopes[0]?.seq).toBeGreaterThan(4)
    expect([(await state(again)).received, await found(again, 'ben')]).toEqual([false, []])
  })
})
