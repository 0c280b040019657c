import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Bounded, Oldest } from '@meup/folds'
import { expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes of the heap after garbage collection. */
async function inUse(): Promise<number> {
  await turn()
  collect()
  return process.memoryUsage().heapUsed
}

test('the oldest is given first, whatever was deleted and added since', async () => {
  const keyed = new Set([1, 2, 3, 4, 5])
  const oldest = new Oldest(keyed)
  const take = () => {
    const next = oldest.next()
    if (next !== undefined) keyed.delete(next)
    return next
  }
  keyed.delete(1)
  expect(take()).toBe(2)
  keyed.delete(3)
  keyed.add(6)
  await inUse()
  expect([take(), take(), take(), take()]).toEqual([4, 5, 6, undefined])
  keyed.add(7)
  expect([take(), take()]).toEqual([7, undefined])
})

const many = 10_000
/** Changes many keys, and lets other tasks run in between. */
async function churn(change: (key: string) => void): Promise<void> {
  for (let round = 0; round < 20; round++) {
    for (let i = 0; i < many; i++) change(`entry ${round} ${i}`)
    await turn()
  }
}

const churns = times(5, 15)
/**
 * Maximum growth of the heap. Hash tables that are never freed take more than twice as much; the margin is for other tests in
 * the process.
 */
const maxBytes = churns * 10e6

/** Bytes by which the heap grows while keys are added and deleted. */
async function kept(change: (key: string) => void): Promise<number> {
  await churn(change)
  const before = await inUse()
  for (let time = 0; time < churns; time++) await churn(change)
  return (await inUse()) - before
}

test('what a map has thrown away is not kept, though nobody asks for the oldest for long', async () => {
  const keyed = new Map(['first', 'second', 'third'].map((key) => [key, {}]))
  const oldest = new Oldest(keyed)
  keyed.delete(oldest.next() ?? '')
  const grown = await kept((key) => {
    keyed.set(key, { key })
    keyed.delete(key)
  })
  expect(grown).toBeLessThan(maxBytes)
  expect(oldest.next()).toBe('second')
})

test('nor by a map that is full but seldom', async () => {
  const map = new Bounded<object>(3)
  for (const key of ['first', 'second', 'third', 'fourth']) map.set(key, {})
  const grown = await kept((key) => map.use(key.endsWith('7') ? 'second' : 'third'))
  expect(grown).toBeLessThan(maxBytes)
  map.set('fifth', {})
  expect([...map.keys()]).toHaveLength(3)
})
