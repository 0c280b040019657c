import type { Kick } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type KeepOptions, keepRunning, type ProgramEvent, type Running } from '../src/run/keep-running.js'
import type { ProgramEnd } from '../src/run/restart-policy.js'

const crash: ProgramEnd = { failed: true, reason: 'exit 1' }
const success: ProgramEnd = { failed: false, reason: 'exit 0' }

/** Runs pending promise callbacks, and those that follow from them. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A kept program whose starts, ends and presence are controlled by the test, with a fake clock. */
async function keep(options: Partial<KeepOptions> & { isHanging?: boolean } = {}) {
  const clock = new FakeClock()
  const events: ProgramEvent[] = []
  const signals: AbortSignal[] = []
  let [end, kick, isPresent]: [(ending: ProgramEnd) => void, Kick | undefined, boolean] = [
    () => {},
    undefined,
    false,
  ]
  const start = async (signal: AbortSignal): Promise<Running> => {
    signals.push(signal)
    if (options.isHanging) {
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }
    const ended = new Promise<ProgramEnd>((resolve) => {
      end = resolve
    })
    return { ended, close: async () => end({ failed: true, reason: 'killed by SIGTERM' }) }
  }
  const keeper = keepRunning({
    restart: 'on-failure',
    lateMs: 5000,
    start,
    isPresent: () => isPresent,
    findKick: () => kick,
    onEvent: (event) => events.push(event),
    clock,
    random: () => 0,
    ...options,
  })
  onTestFinished(() => keeper.close())
  await settle()
  return {
    keeper,
    events,
    signals,
    getState: () => keeper.status.state,
    listTypes: () => events.map(({ type }) => type),
    listWaits: () => events.flatMap((event) => (event.type === 'ended' ? [event.next.tryMs] : [])),
    getCount: () => events.flatMap((event) => (event.type === 'ended' ? [event.failures] : [])).at(-1),
    countStarts: () => events.filter(({ type }) => type === 'starting').length,
    setPresent: (value: boolean) => {
      isPresent = value
    },
    setKick: (value: Kick | undefined) => {
      kick = value
    },
    async end(ending: ProgramEnd) {
      end(ending)
      await settle()
    },
    async advance(ms: number) {
      clock.advance(ms)
      await settle()
    },
    async restart(cause: 'files' | 'request') {
      keeper.restart(cause)
      await settle()
    },
  }
}

type Kept = Awaited<ReturnType<typeof keep>>

/** Makes the program fail this many times, each time right after its restart. */
async function failTimes(program: Kept, times: number, ending = crash): Promise<void> {
  for (let time = 0; time < times; time++) {
    await program.end(ending)
    if (program.getState() !== 'resting') await program.advance(program.listWaits().at(-1) ?? 0)
  }
}

describe('a program that fails', () => {
  test('is tried again after 0.5 s, then twice as long, at most 60 s', async () => {
    const program = await keep()
    await failTimes(program, 9)
    expect(program.listWaits()).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
    expect(program.countStarts()).toBe(10)
  })

  test('is tried again up to a fifth earlier, at random', async () => {
    const program = await keep({ random: () => 1 })
    await failTimes(program, 3)
    expect(program.listWaits()).toEqual([400, 800, 1600])
  })

  test('waits as at first once it has run for 30 s', async () => {
    const program = await keep()
    await failTimes(program, 3)
    await program.advance(30_000)
    await program.end(crash)
    expect(program.listWaits()).toEqual([500, 1000, 2000, 500])
  })

  test('rests after ten failures within ten minutes, and starts again on request', async () => {
    const program = await keep()
    await failTimes(program, 10)
    expect(program.events.at(-1)).toMatchObject({ type: 'ended', next: { rests: 'failures' } })
    expect(program.keeper.status).toMatchObject({ state: 'resting', count: 10, lastError: 'exit 1' })
    await program.advance(3_600_000)
    expect(program.countStarts()).toBe(10)
    await program.restart('request')
    expect(program.keeper.status.count).toBe(0)
    expect(program.keeper.status).not.toHaveProperty('lastError')
    await program.end(crash)
    expect(program.events.at(-1)).toMatchObject({ failures: { count: 1 }, next: { tryMs: 500 } })
  })

  test('does not rest while its failures are further apart', async () => {
    const program = await keep()
    for (let time = 0; time < 12; time++) {
      await program.advance(70_000)
      await failTimes(program, 1)
    }
    expect(program.getState()).not.toBe('resting')
  })

  test('has its failures counted, and whether the error is the same', async () => {
    const program = await keep()
    const counts = []
    for (const reason of ['exit 1', 'exit 1', 'exit 2']) {
      await failTimes(program, 1, { failed: true, reason })
      counts.push(program.getCount())
    }
    expect(counts).toEqual([
      { count: 1, sinceMs: 0, isSame: false },
      { count: 2, sinceMs: 500, isSame: true },
      { count: 3, sinceMs: 1500, isSame: false },
    ])
  })

  test('is tried again when already its first start has failed, and whatever it throws', async () => {
    let starts = 0
    const program = await keep({
      start: () => (starts++ === 0 ? Promise.reject(new Error('no answer')) : Promise.reject('odd')),
    })
    expect(program.events.at(-1)).toMatchObject({
      ending: { isStart: true, reason: 'no answer' },
      next: { tryMs: 500 },
    })
    await program.advance(500)
    expect(program.events.at(-1)).toMatchObject({
      ending: { isStart: true, reason: 'odd' },
      next: { tryMs: 1000 },
    })
  })

  test('is closed and tried again when the promise of its end rejects', async () => {
    let closed = 0
    const program = await keep({
      start: async () => ({
        ended: Promise.reject(new Error('unreadable')),
        close: async () => void closed++,
      }),
    })
    expect(closed).toBe(1)
    expect(program.events.at(-1)).toMatchObject({ ending: { reason: 'unreadable' }, next: { tryMs: 500 } })
  })

  test('goes through the states starting, running, failed and restarting', async () => {
    const program = await keep()
    const states = [program.getState()]
    program.setPresent(true)
    await program.advance(50)
    states.push(program.getState())
    await program.end(crash)
    states.push(program.getState())
    program.setPresent(false)
    await program.advance(500)
    states.push(program.getState())
    expect(states).toEqual(['starting', 'running', 'failed', 'restarting'])
  })

  test('rests at once where trying again cannot help', async () => {
    const program = await keep({ restart: 'always' })
    await program.end({ failed: true, isFinal: true, reason: 'exit 78' })
    expect(program.events.at(-1)).toMatchObject({ next: { rests: 'broken' } })
  })
})

describe('the restart policy', () => {
  test.each([
    ['on-failure', success, 'resting'],
    ['on-failure', crash, 'failed'],
    ['never', crash, 'resting'],
    ['always', success, 'restarting'],
    ['always', crash, 'failed'],
  ] as const)('%s: after %o the program is %s', async (restart, ending, state) => {
    const program = await keep({ restart })
    await program.end(ending)
    expect(program.getState()).toBe(state)
  })

  test('always never rests for successes', async () => {
    const program = await keep({ restart: 'always' })
    await failTimes(program, 20, success)
    expect(program.countStarts()).toBe(21)
  })
})

describe('a restart', () => {
  test('on request ends the program, and is no failure', async () => {
    const program = await keep()
    await program.restart('request')
    expect(program.listTypes()).toEqual(['starting', 'started', 'starting', 'started'])
  })

  test('aborts a start that hangs', async () => {
    const program = await keep({ isHanging: true })
    await program.restart('request')
    expect(program.signals.map(({ aborted }) => aborted)).toEqual([true, false])
    expect(program.listTypes()).toEqual(['starting', 'starting'])
  })

  test('for changed files that fails within 10 s rests until they change again', async () => {
    const program = await keep({ restart: 'always' })
    await program.restart('files')
    await program.advance(9000)
    await program.end(crash)
    expect(program.events.at(-1)).toMatchObject({ next: { rests: 'broken' } })
    await program.restart('files')
    await program.advance(11_000)
    await program.end(crash)
    expect(program.events.at(-1)).toMatchObject({ next: { tryMs: 500 } })
  })

  test('ends the wait of a program that failed', async () => {
    const program = await keep()
    await failTimes(program, 6)
    await program.end(crash)
    const starts = program.countStarts()
    await program.restart('request')
    expect(program.countStarts()).toBe(starts + 1)
  })
})

describe('joining', () => {
  test('is reported with the time that it took', async () => {
    const program = await keep()
    await program.advance(1900)
    program.setPresent(true)
    await program.advance(50)
    expect(program.events.at(-1)).toEqual({ type: 'joined', waitedMs: 1950 })
  })

  test('late is reported once, and then when it happens', async () => {
    const program = await keep()
    await program.advance(20_000)
    program.setPresent(true)
    await program.advance(500)
    expect(program.events.slice(2)).toEqual([
      { type: 'late', waitedMs: 5000 },
      { type: 'joined', waitedMs: 20_500 },
    ])
  })

  test('late is not reported again of a program that is tried again', async () => {
    const program = await keep()
    await program.advance(6000)
    await failTimes(program, 1)
    await program.advance(6000)
    expect(program.listTypes().filter((type) => type === 'late')).toHaveLength(1)
  })

  test('is reported after each start, not of a connection that was there before', async () => {
    const program = await keep()
    program.setPresent(true)
    await program.advance(50)
    await failTimes(program, 1)
    await program.advance(1000)
    const countJoins = () => program.listTypes().filter((type) => type === 'joined').length
    expect(countJoins()).toBe(1)
    expect(program.keeper.status).toMatchObject({ lastError: 'exit 1' })
    program.setPresent(false)
    await program.advance(50)
    program.setPresent(true)
    await program.advance(50)
    expect(countJoins()).toBe(2)
    expect(program.keeper.status).not.toHaveProperty('lastError')
  })
})

describe('a kicked program', () => {
  const kick: Kick = { by: 'ana', at: 7 }

  test('is not tried again before the kick ends', async () => {
    const program = await keep()
    program.setKick(kick)
    await program.end(crash)
    expect(program.events.at(-1)).toEqual({ type: 'kicked', kick })
    await program.advance(3_600_000)
    expect([program.countStarts(), program.getState()]).toEqual([1, 'resting'])
    program.setKick(undefined)
    await program.advance(1000)
    expect(program.events.at(-2)).toEqual({ type: 'starting', cause: 'kick_over' })
  })

  test('rests too if it is kicked while it starts', async () => {
    const program = await keep({ start: () => Promise.reject(new Error('forbidden')), findKick: () => kick })
    expect(program.events.at(-1)).toEqual({ type: 'kicked', kick })
  })

  test('is started on request, but not by a change of its files', async () => {
    const program = await keep()
    program.setKick(kick)
    await program.end(crash)
    await program.restart('files')
    expect(program.countStarts()).toBe(1)
    await program.restart('request')
    expect(program.countStarts()).toBe(2)
  })
})

describe('closing', () => {
  test.each([
    ['runs', async () => keep()],
    ['starts', async () => keep({ isHanging: true })],
    [
      'waits',
      async () => {
        const program = await keep()
        await program.end(crash)
        return program
      },
    ],
    [
      'rests',
      async () => {
        const program = await keep()
        await program.end(success)
        return program
      },
    ],
  ])('a program that %s reports nothing more, and starts nothing', async (_, make) => {
    const program = await make()
    const before = program.listTypes()
    await program.keeper.close()
    await program.advance(60_000)
    expect(program.listTypes()).toEqual(before)
  })
})
