import { expect, onTestFinished, test, vi } from 'vitest'
import type { ProgramName } from '../src/run/describe-program.js'
import type { ProgramEvent } from '../src/run/keep-running.js'
import { StartReport } from '../src/run/start-report.js'

const name = (label: string): ProgramName => ({
  ...{ space: 'demo', participant: label, label, isWatched: false },
})
const joined = (waitedMs: number): ProgramEvent => ({ type: 'joined', waitedMs })
const late: ProgramEvent = { type: 'late', waitedMs: 5000 }
const failed: ProgramEvent = {
  type: 'ended',
  ending: { failed: true, isStart: true, reason: 'it exited', remedy: 'look' },
  failures: { count: 1, sinceMs: 0, isSame: false },
  next: { tryMs: 500 },
}

/** A start report for these programs, and everything that it prints. */
function report(
  labels: readonly string[],
  { json = true, required = {} }: { json?: boolean; required?: Readonly<Record<string, number>> } = {},
) {
  const printed = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    const write = vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      printed[stream] += String(text)
      return true
    })
    onTestFinished(() => write.mockRestore())
  }
  const reported = new StartReport(labels, { json, required: new Map(Object.entries(required)) })
  onTestFinished(() => reported.close())
  reported.begin()
  const events = () =>
    printed.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  return {
    events,
    required: reported.required,
    on: (label: string, event: ProgramEvent) => reported.onEvent(name(label), event),
    lines: () => printed.stderr.split('\n').slice(0, -1),
    /** Participants of each `ready` event. */
    listReady: (): string[][] =>
      events().flatMap(({ event, participants }) => (event === 'ready' ? [participants] : [])),
  }
}

test('those who join are ready together once nobody else is awaited', () => {
  const { on, listReady } = report(['a', 'b', 'c', 'd'])
  on('b', joined(200))
  on('a', joined(300))
  on('c', failed)
  expect(listReady()).toEqual([])
  on('d', late)
  expect(listReady()).toEqual([['a', 'b']])
})

test('a program that joins late, or again, is ready when it does', () => {
  const { on, listReady } = report(['a', 'b'])
  on('a', joined(200))
  on('b', late)
  on('b', joined(20_000))
  on('a', { type: 'starting', cause: 'failure' })
  on('a', joined(100))
  expect(listReady()).toEqual([['a'], ['b'], ['a']])
})

test('a program that a reload removes is not awaited', () => {
  const { on, listReady } = report(['a', 'b'])
  on('a', joined(200))
  on('b', { type: 'removed' })
  expect(listReady()).toEqual([['a']])
})

test('without programs the space is ready at once', () => {
  expect(
    report([])
      .events()
      .map(({ event }) => event),
  ).toEqual(['starting', 'started', 'ready'])
})

test('started is printed once each program has started or failed', () => {
  const { on, events } = report(['a', 'b'])
  on('a', { type: 'started' })
  expect(events().map(({ event }) => event)).toEqual(['starting'])
  on('b', failed)
  on('a', failed)
  expect(events().filter(({ event }) => event === 'started')).toEqual([
    { event: 'started', participants: ['a'] },
  ])
})

test('a failure is an event with its count, and when it is tried again or that it rests', () => {
  const { on, events } = report(['a'])
  on('a', failed)
  on('a', { ...failed, next: { rests: 'failures' } })
  expect(events().filter(({ event }) => event === 'failed')).toMatchObject([
    { space: 'demo', participant: 'a', reason: 'it exited', count: 1, nextTryMs: 500 },
    { participant: 'a', resting: true },
  ])
  expect(events().at(-1).time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
})

test('a kick is an event with who, why and until when', () => {
  const { on, events } = report(['a'])
  on('a', { type: 'kicked', kick: { by: 'ana', reason: 'spam', until: Date.UTC(2026, 0, 2), at: 1 } })
  expect(events()).toContainEqual({
    time: expect.any(String),
    space: 'demo',
    ...{ event: 'kicked', participant: 'a', by: 'ana', reason: 'spam', resting: true },
    until: '2026-01-02T00:00:00.000Z',
  })
})

test('for people there is a line with the time of day and how long it took', () => {
  const { on, lines } = report(['files', 'bot'], { json: false })
  on('files', joined(900))
  on('bot', joined(1900))
  expect(lines()).toEqual([
    'starting files and bot',
    expect.stringMatching(/^\d\d:\d\d:\d\d {2}bot and files are up \(1\.9 s\)$/),
  ])
})

test('a late program is named with how to run it by hand, as the participant that it is', () => {
  const { on, lines } = report(['bot'], { json: false })
  on('bot', late)
  expect(lines()[1]).toMatch(
    /! still waiting for bot\. Run its command by hand, with MEUP_PARTICIPANT=bot before it, to see/,
  )
})

test('what is required is there once all of it has joined', async () => {
  const { on, required } = report(['a', 'b', 'c'], { required: { a: 1000, b: 1000 } })
  on('c', failed)
  on('a', joined(100))
  on('b', joined(100))
  await expect(required).resolves.toBeUndefined()
})

test.each<[string, ProgramEvent, RegExp]>([
  ['fails', failed, /^a: it exited\. Look\.$/],
  ['ends', { ...failed, ending: { failed: false, reason: 'exit 0' } }, /^a ended: exit 0$/],
  ['is kicked', { type: 'kicked', kick: { by: 'ana', at: 1 } }, /ana/],
])('a required program that %s before it joins is an error with the cause', async (_, event, message) => {
  const { on, required } = report(['a'], { required: { a: 60_000 } })
  on('a', event)
  await expect(required).rejects.toThrow(message)
})

test('a required program that does not join in time is an error', async () => {
  await expect(report(['a'], { required: { a: 20 } }).required).rejects.toThrow('20 ms')
})

test('a required program that fails after it has joined is none', async () => {
  const { on, required } = report(['a'], { required: { a: 60_000 } })
  on('a', joined(100))
  on('a', failed)
  await expect(required).resolves.toBeUndefined()
})
