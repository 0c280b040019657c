import type { Clock } from '@meup/gateway'
import { testToken } from '@meup/gateway/testing'
import { expect, test } from 'vitest'
import { start } from '../../../gateway/test/support.js'
import { draft, drafts, openNats, withNats } from '../nats.js'

const participants = { alice: ['*'], bob: ['*'] }
const hour = 3_600_000
const day = 24 * hour

/** The system clock plus `ahead`. Tasks that are due in an hour run after 50 ms. */
function settableClock(): Clock & { ahead: number } {
  const clock = {
    ahead: 0,
    now: () => Date.now() + clock.ahead,
    after(ms: number, task: () => void) {
      const timer = setTimeout(task, ms === hour ? 50 : ms)
      return () => clearTimeout(timer)
    },
  }
  return clock
}

const nothing = { onRows: () => {}, onLeaderLost: () => {}, onRequest: () => ({}), onNote: () => {} }

test(
  'a gateway that follows prunes its replica as the stream was pruned, and reads on',
  withNats(async () => {
    const { store } = await openNats()
    const log = await (await store()).open('main')
    await log.append(drafts(1, 20))
    const following = await (await store('follower.db')).open('main')
    const boundaries: number[] = []
    following.shared?.listen({ ...nothing, onPruned: (through) => boundaries.push(through) })
    await log.prune(7, Buffer.from('state'))
    await expect.poll(() => boundaries).toContain(7)
    await following.shared?.prune()
    expect([following.oldest, following.head]).toEqual([8, 20])
    expect(Buffer.from(following.snapshot?.bytes ?? []).toString()).toBe('state')
    expect(following.snapshot?.hash).toEqual(log.snapshot?.hash)
    expect(await following.read({ limit: 99 })).toEqual(await log.read({ limit: 99 }))
    expect(following.find('e7')).toBeUndefined()
    await log.append([draft(21, 'e7')])
    await expect.poll(() => following.find('e7')?.seq).toBe(21)
    await following.shared?.prune()
    expect(following.oldest).toBe(8)
  }),
)

test(
  'a gateway that was away while the log was pruned prunes its replica when it follows',
  withNats(async () => {
    const { store } = await openNats()
    const log = await (await store()).open('main')
    await log.append(drafts(1, 9))
    const before = await store('follower.db')
    expect((await before.open('main')).head).toBe(9)
    await before.close()
    await log.prune(5, Buffer.from('state'))
    const following = await (await store('follower.db')).open('main')
    const boundaries: number[] = []
    following.shared?.listen({ ...nothing, onPruned: (through) => boundaries.push(through) })
    await expect.poll(() => boundaries).toEqual([5])
    await following.shared?.prune()
    expect(following.oldest).toBe(6)
  }),
)

test(
  'a replica that has another envelope at the boundary is refused, and keeps what it has',
  withNats(async () => {
    const { store, stranger } = await openNats()
    const log = await (await store()).open('main')
    await log.append(drafts(1, 9))
    const following = await (await store()).open('main')
    const { js } = await stranger()
    await log.prune(4, Buffer.from('state'))
    const { manager } = await stranger()
    const stored = await manager.streams.getMessage('MEUP_5', { last_by_subj: 'meup.pruned.5.main' })
    const record = { ...stored?.json<object>(), hash: '00'.repeat(32) }
    await js.publish('meup.pruned.5.main', JSON.stringify(record))
    const refusal = { name: 'LogError', code: 'corrupt', details: { seq: 4 } }
    await expect(following.shared?.prune()).rejects.toMatchObject(refusal)
    expect([following.oldest, following.find('e2')?.seq]).toEqual([1, 2])
  }),
)

test(
  'what the sequencing gateway prunes, envelopes and steps, is gone at the other one as well',
  withNats(async () => {
    const { store } = await openNats()
    const clock = settableClock()
    const stores = [await store(), await store()] as const
    const retention = { days: 10 }
    const one = await start({ participants, retention, store: stores[0], clock })
    const two = await start({ participants, retention, store: stores[1], clock })
    const [log, following] = [await stores[0].open('test'), await stores[1].open('test')]
    expect([log.shared?.leads, following.shared?.leads]).toEqual([true, false])
    const [alice, bob] = [await one.connect('alice'), await two.connect('bob')]
    await alice.accepted({ kind: 'reasoning.thought', context: 'run', payload: { message: 'old' } })
    const old = await alice.accepted({ kind: 'chat', payload: { message: 'old' } })
    clock.ahead = 9 * day
    await bob.accepted({ kind: 'chat', payload: { message: 'new' } })
    await alice.accepted({ kind: 'reasoning.thought', context: 'run', payload: { message: 'new' } })
    const stepsAt = async ({ url }: { url: string }): Promise<unknown[]> => {
      const headers = { authorization: `Bearer ${testToken('alice')}` }
      const response = await fetch(`${url}/spaces/test/audit`, { headers })
      return ((await response.json()) as { steps: unknown[] }).steps
    }
    expect([await stepsAt(one), await stepsAt(two)].map(({ length }) => length)).toEqual([2, 2])
    clock.ahead = 10 * day + hour
    await expect.poll(() => following.oldest, { timeout: 20_000 }).toBeGreaterThan(old.seq)
    expect(following.oldest).toBe(log.oldest)
    expect(await following.read({ limit: 99 })).toEqual(await log.read({ limit: 99 }))
    expect(await stepsAt(two)).toEqual(await stepsAt(one))
    expect(await stepsAt(two)).toHaveLength(1)
  }),
)
