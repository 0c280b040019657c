import { FakeClock } from '@meup/gateway/testing'
import type { AnyEnvelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { play } from '../src/replay/replay.js'

/** Envelopes with timestamps at these milliseconds. */
const at = (...times: number[]): AnyEnvelope[] =>
  times.map((ms, i) => ({
    protocol: 'meup/v0.3',
    id: `e${i + 1}`,
    seq: i + 1,
    ts: new Date(Date.UTC(2026, 0, 1, 1) + ms).toISOString(),
    from: 'ana',
    kind: 'chat',
    payload: { message: '' },
  }))

const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface Given {
  readonly speed?: number
  /** Milliseconds that showing an envelope takes. */
  readonly drawing?: number
}

/** Plays envelopes; returns the time at which each was shown, in ms from the start, and the notices. */
async function played(envelopes: AnyEnvelope[], { speed = 1, drawing = 0 }: Given = {}) {
  const clock = new FakeClock(0)
  const seen: (string | number)[] = []
  let isOver = false
  const playing = play(envelopes, {
    clock,
    speed,
    show: () => {
      seen.push(clock.now())
      clock.advance(drawing)
    },
    notify: (line) => seen.push(line),
  }).then(() => {
    isOver = true
  })
  for (let ms = 0; ms < 60_000 && !isOver; ms++) {
    await idle()
    if (!isOver) clock.advance(1)
  }
  await playing
  return seen
}

test('keeps the pauses, and begins without one', async () => {
  expect(await played(at(5000, 5040, 5040, 6000))).toEqual([0, 40, 40, 1000])
})

test('divides them by the speed, too small ones in sum', async () => {
  expect(await played(at(0, 1000, 1500), { speed: 10 })).toEqual([0, 100, 150])
  expect(await played(at(0, 200), { speed: 0.5 })).toEqual([0, 400])
  const soon = await played(at(...Array.from({ length: 33 }, (_, i) => i)), { speed: 8 })
  expect([soon[0], soon[16], soon[32]]).toEqual([0, 2, 4])
})

test('cuts long ones short, and tells how long they were', async () => {
  const day = 24 * 60 * 60 * 1000
  expect(await played(at(0, 2000, 4001))).toEqual([0, 2000, '… 2 s later', 4000])
  expect(await played(at(0, 30_000, 30_000 + 3 * day), { speed: 10 })).toEqual([
    0,
    '… 30 s later',
    2000,
    '… 3 d later',
    4000,
  ])
})

test('makes none at the highest speed', async () => {
  const clock = new FakeClock(0)
  const seen: unknown[] = []
  await play(at(0, 5, 90_000_000), {
    clock,
    speed: Number.POSITIVE_INFINITY,
    show: ({ id }) => seen.push(id),
    notify: (line) => seen.push(line),
  })
  expect([seen, clock.now()]).toEqual([['e1', 'e2', 'e3'], 0])
})

test('makes up for being late by a moment, and does not hurry after a stop', async () => {
  expect(await played(at(0, 100, 200), { drawing: 30 })).toEqual([0, 100, 200])
  expect(await played(at(0, 100, 200, 1000), { drawing: 150 })).toEqual([0, 150, 300, 1000])
  expect(await played(at(0, 100, 200), { drawing: 5000 })).toEqual([0, 5000, 10_000])
  expect(await played(at(0, 100, 6500), { drawing: 5000 })).toEqual([0, 5000, '… 6.4 s later', 10_000])
})

test('goes on where the clock of the log was put back, and where it told no time', async () => {
  expect(await played(at(1000, 400, 450))).toEqual([0, 0, 50])
  const [first, second, third, fourth] = at(0, 0, 100, 150) as [
    AnyEnvelope,
    AnyEnvelope,
    AnyEnvelope,
    AnyEnvelope,
  ]
  const odd = { ...second, ts: '2026-13-01T00:00:00Z' }
  expect(await played([first, odd, third, fourth])).toEqual([0, 0, 0, 50])
})
