import { ConnectionError } from '@meup/agent-sdk'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Answers, Patience } from '../src/agent/answers.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** Milliseconds after which a request times out. */
const askMs = 5000

/** Participants that answer after `delays` milliseconds; `Infinity`: never. */
function participants(delays: Record<string, number>) {
  const asked: string[] = []
  const errors: unknown[] = []
  const late: string[] = []
  const ask = (id: string): Promise<string> => {
    asked.push(id)
    const { [id]: delayMs = 0 } = delays
    const count = asked.filter((each) => each === id).length
    return new Promise((resolve, reject) => {
      if (delayMs < askMs) setTimeout(() => resolve(`${id} ${count}`), delayMs)
      else setTimeout(() => reject(new ConnectionError('timeout', 'no answer')), askMs)
    })
  }
  const answers = new Answers({
    ask,
    none: 'nothing',
    onError: (error) => errors.push(error),
    onLate: (id) => late.push(id),
  })
  /** Reads the answers, and lets `advanceMs` pass. Returns the answers, and the milliseconds until they were there. */
  const read = async (ids: readonly string[], patience = new Patience(askMs), advanceMs = 20_000) => {
    const begin = performance.now()
    const reading = answers.read(ids, patience).then((values) => ({ values, ms: performance.now() - begin }))
    await vi.advanceTimersByTimeAsync(advanceMs)
    const { values, ms } = await reading
    return { values, ms: Math.round(ms) }
  }
  return { answers, asked, errors, late, read }
}

test('each is asked once, and again when its answer may have changed', async () => {
  const { answers, asked, read } = participants({ files: 10 })
  expect(await read(['files'])).toEqual({ values: ['files 1'], ms: 10 })
  expect(await read(['files'])).toEqual({ values: ['files 1'], ms: 0 })
  answers.expire('files')
  expect(await read(['files'])).toEqual({ values: ['files 2'], ms: 10 })
  expect(asked).toHaveLength(2)
})

test('of one that comes anew, and does not answer, the last answer stays', async () => {
  const delays: Record<string, number> = { files: 10 }
  const { answers, read } = participants(delays)
  await read(['files'])
  delays.files = Number.POSITIVE_INFINITY
  answers.expire('files')
  expect(await read(['files'], undefined, 6000)).toEqual({ values: ['files 1'], ms: 1000 })
  answers.expire('files')
  expect(await read(['files'])).toEqual({ values: ['files 1'], ms: 0 })
})

test('one that does not answer is waited for once, however often it comes anew', async () => {
  const { answers, asked, read } = participants({ eve: Number.POSITIVE_INFINITY, files: 10 })
  expect(await read(['eve', 'files'])).toEqual({ values: ['nothing', 'files 1'], ms: askMs })
  const waits: number[] = []
  for (let times = 0; times < 30; times++) {
    answers.expire('eve') // The following `read` advances the fake time by 20 s.
    waits.push((await read(['eve', 'files'])).ms)
  }
  // The 30 reads take ten minutes. Each requests an answer of eve, but only those after 20 s, 40 s, 80 s, … wait for it.
  expect(waits.filter((ms) => ms > 0).length).toBeLessThanOrEqual(5)
  expect(asked.filter((id) => id === 'eve')).toHaveLength(31)
})

test('one that leaves while it is asked, and comes again, is asked once a second', async () => {
  const asked: number[] = []
  const ask = () => {
    asked.push(performance.now())
    return Promise.reject(new ConnectionError('participant_away', 'eve has left'))
  }
  const answers = new Answers({ ask, none: 0, onError: () => {} })
  for (let times = 0; times < 100; times++) {
    answers.expire('eve')
    expect(await answers.read(['eve'], new Patience(askMs))).toEqual([0])
    await vi.advanceTimersByTimeAsync(50)
  }
  expect(asked.length).toBe(5)
})

test('one that did not answer is asked again when it sends something, ever more rarely', async () => {
  const delays: Record<string, number> = { eve: Number.POSITIVE_INFINITY }
  const { answers, asked, late, read } = participants(delays)
  answers.onSent('eve') // Ignored: no answer of eve was requested.
  await read(['eve'], undefined, askMs)
  for (let seconds = 0; seconds < 600; seconds++) {
    answers.onSent('eve')
    await vi.advanceTimersByTimeAsync(1000)
  }
  expect(asked.length).toBeLessThanOrEqual(10)
  delays.eve = 10
  await vi.advanceTimersByTimeAsync(600_000)
  answers.onSent('eve')
  await vi.advanceTimersByTimeAsync(10)
  expect(late).toEqual(['eve'])
  const { length } = asked
  expect(await read(['eve'])).toEqual({ values: [`eve ${length}`], ms: 0 })
  answers.onSent('eve')
  expect(asked).toHaveLength(length)
})

test('one that answers its first question late is known as soon as it answers', async () => {
  const delays: Record<string, number> = { files: Number.POSITIVE_INFINITY }
  const { answers, late, read } = participants(delays)
  expect(await read(['files'], undefined, 8000)).toEqual({ values: ['nothing'], ms: askMs })
  delays.files = 10
  answers.onSent('files') // Files has sent an envelope, its late answer, so the request is repeated.
  await vi.advanceTimersByTimeAsync(10)
  expect(late).toEqual(['files'])
  expect(await read(['files'])).toEqual({ values: ['files 2'], ms: 0 })
})

test('one that announces a change all the time is asked once a second, and the last answer counts', async () => {
  const { answers, asked, read } = participants({ files: 10 })
  await read(['files'], undefined, 10)
  for (let times = 0; times < 50; times++) {
    answers.expire('files', { isAnnounced: true })
    void answers.read(['files'], new Patience(askMs)) // Concurrent callers share one request.
    await vi.advanceTimersByTimeAsync(100)
  }
  expect(asked.length).toBeLessThanOrEqual(6)
  answers.expire('files', { isAnnounced: true })
  expect((await read(['files'])).values).toEqual([`files ${asked.length}`])
})

test('one that did not answer is asked at once when it announces a change, and nobody waits', async () => {
  const delays: Record<string, number> = { files: Number.POSITIVE_INFINITY }
  const { answers, asked, read } = participants(delays)
  await read(['files'])
  await read(['files'])
  const before = asked.length
  delays.files = 10
  answers.expire('files', { isAnnounced: true })
  const { ms } = await read(['files'])
  expect([asked.length - before, ms]).toEqual([1, 0])
  expect((await read(['files'])).values).toEqual([`files ${asked.length}`])
})

test('one that answers slowly each time is not waited for each time', async () => {
  const { answers, read } = participants({ eve: 4000 })
  await read(['eve'])
  const waits: number[] = []
  for (let times = 0; times < 10; times++) {
    answers.expire('eve', { isAnnounced: true })
    waits.push((await read(['eve'])).ms)
  }
  expect(Math.max(...waits)).toBeLessThanOrEqual(1000)
  expect(waits.reduce((sum, ms) => sum + ms)).toBeLessThanOrEqual(4000)
})

test('steps of one turn share their patience', async () => {
  const { read } = participants({ eve: Number.POSITIVE_INFINITY, mallory: Number.POSITIVE_INFINITY })
  const patience = new Patience(askMs)
  expect((await read(['eve'], patience)).ms).toBe(askMs)
  expect((await read(['eve', 'mallory'], patience)).ms).toBe(0)
  expect((await read(['eve', 'mallory'], patience)).ms).toBe(0)
})

test('an error that is no timeout is reported, and asked about again', async () => {
  const errors: unknown[] = []
  const ask = () => Promise.reject(new Error('closed'))
  const answers = new Answers({ ask, none: 0, onError: (error) => errors.push(error) })
  for (const times of [1, 2]) {
    expect(await answers.read(['a'], new Patience(askMs))).toEqual([0])
    expect(errors).toHaveLength(times)
  }
})
