import { type Dial, type DialRequest, SpaceClient, type Transport } from '@meup/agent-sdk/internal'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { watchSilence } from '../src/client/silence.js'
import { accepted, scriptedDial } from './support/scripted-line.js'

const request: DialRequest = { url: 'memory:', space: 'test' }
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0.0005)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('watching for silence', () => {
  function watched(limitMs = 50_000) {
    const heard = { count: 0 }
    const onSilent = vi.fn()
    const stop = watchSilence(limitMs, () => heard.count, onSilent)
    return { heard, onSilent, stop }
  }

  test('fires once nothing has come for the limit, within a tenth of it more', () => {
    const { onSilent } = watched()
    vi.advanceTimersByTime(49_000)
    expect(onSilent).not.toHaveBeenCalled()
    vi.advanceTimersByTime(6000)
    expect(onSilent).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(200_000)
    expect(onSilent).toHaveBeenCalledTimes(1)
  })

  test('waits on while anything comes', () => {
    const { heard, onSilent } = watched()
    for (let minute = 0; minute < 10; minute++) {
      vi.advanceTimersByTime(40_000)
      heard.count++
    }
    expect(onSilent).not.toHaveBeenCalled()
  })

  test('after a sleep of the machine fires soon', () => {
    const { onSilent } = watched()
    vi.advanceTimersByTime(12_000)
    vi.setSystemTime(Date.now() + 3_600_000) // Timers do not run in the meantime.
    vi.advanceTimersByTime(6000)
    expect(onSilent).toHaveBeenCalledTimes(1)
  })

  test('after a sleep first reads what has come', () => {
    const { heard, onSilent } = watched()
    vi.advanceTimersByTime(12_000)
    vi.setSystemTime(Date.now() + 3_600_000)
    vi.advanceTimersByTime(3000)
    heard.count++
    vi.advanceTimersByTime(40_000)
    expect(onSilent).not.toHaveBeenCalled()
  })

  test('fires also where every look is late, as in a page in the background', () => {
    const { onSilent } = watched()
    for (let look = 0; look < 3; look++) {
      vi.setSystemTime(Date.now() + 60_000)
      vi.advanceTimersByTime(5000)
    }
    expect(onSilent).toHaveBeenCalledTimes(1)
  })

  test('a clock that is set back delays it by the limit', () => {
    const { onSilent } = watched()
    vi.advanceTimersByTime(12_000)
    vi.setSystemTime(Date.now() - 3_600_000)
    vi.advanceTimersByTime(60_000)
    expect(onSilent).toHaveBeenCalledTimes(1)
  })

  test('stops when told', () => {
    const { onSilent, stop } = watched()
    stop()
    vi.advanceTimersByTime(200_000)
    expect(onSilent).not.toHaveBeenCalled()
  })
})

/** A client for which the test sets the number of received bytes or frames. */
async function seated(how: Pick<Transport, 'countsFrames'> = {}) {
  const line = scriptedDial()
  const heard = { count: 0 }
  const dial: Dial = async (where, events, signal) => ({
    ...(await line.dial(where, events, signal)),
    received: () => heard.count,
    ...how,
  })
  const [seat, first] = await Promise.all([
    SpaceClient.open(dial, request),
    line.next().then((opened) => {
      opened.welcome()
      return opened
    }),
  ])
  const lost: number[] = []
  const begun = Date.now()
  seat.on('reconnecting', () => void lost.push(Date.now() - begun))
  const next = async () => {
    await vi.advanceTimersByTimeAsync(1)
    return line.next()
  }
  return { ...line, next, seat, first, heard, lost }
}

test('a client gives a line up after 50 s without a byte, by default', async () => {
  const { seat, first, heard, lost, next } = await seated()
  await vi.advanceTimersByTimeAsync(40_000)
  heard.count++
  await vi.advanceTimersByTimeAsync(45_000)
  expect(lost).toEqual([])
  await vi.advanceTimersByTimeAsync(15_000)
  expect(lost).toHaveLength(1)
  expect(first.closed).toBe(4408)
  ;(await next()).welcome()
  seat.close()
})

test('what a line brings after it was given up is nobody’s', async () => {
  const { seat, first, next } = await seated()
  const seen: unknown[] = []
  seat.on('envelope', ({ id }) => void seen.push(id))
  await vi.advanceTimersByTimeAsync(50_000)
  const second = await next()
  second.welcome({ resume: { status: 'replaying', from: 1, to: 1 } })
  const said = accepted('other', { id: 'said', kind: 'chat', payload: { message: '' } }, 1)
  first.deliver(said)
  first.close(1006)
  second.deliver(said)
  expect(seen).toEqual(['said'])
  expect(second.closed).toBeUndefined()
  seat.close()
})

test('a line that is given up before its welcome is dialled again', async () => {
  const { seat, first, lost, next } = await seated()
  first.close(1006)
  const second = await next()
  await vi.advanceTimersByTimeAsync(9000)
  expect(lost).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(2000)
  expect(lost).toHaveLength(2)
  expect(second.closed).toBe(4408)
  ;(await next()).welcome()
  seat.close()
})

test('ticks are shown to nobody', async () => {
  const { seat, first } = await seated({ countsFrames: true })
  const seen: unknown[] = []
  seat.on('envelope', (envelope) => void seen.push(envelope))
  seat.on('requestError', (error) => void seen.push(error))
  await vi.advanceTimersByTimeAsync(1)
  first.deliver({ kind: 'system.tick' })
  expect(seen).toEqual([])
  seat.close()
})

test('a page waits twice as long for each time that it was cut while a replay owed it something', async () => {
  const { seat, first, lost, next } = await seated({ countsFrames: true })
  const owed = { resume: { status: 'replaying', from: 1, to: 1 } } as const
  first.close(1006)
  const waits: number[] = []
  for (const limitMs of [50_000, 100_000, 200_000]) {
    const line = await next()
    line.welcome(owed)
    const before = lost.length
    await vi.advanceTimersByTimeAsync(limitMs - 1000)
    expect(lost).toHaveLength(before)
    await vi.advanceTimersByTimeAsync(1000)
    waits.push(lost.length - before)
  }
  expect(waits).toEqual([1, 1, 1])
  const whole = await next()
  whole.welcome(owed)
  whole.deliver(accepted('other', { id: 'large', kind: 'chat', payload: { message: '' } }, 1))
  whole.close(1006)
  ;(await next()).welcome()
  const before = lost.length
  await vi.advanceTimersByTimeAsync(50_000)
  expect(lost).toHaveLength(before + 1)
  seat.close()
})
