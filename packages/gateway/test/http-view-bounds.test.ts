import { memoryStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { expect, test } from 'vitest'
import { range, type Sent } from './client.js'
import { asking } from './http-client.js'
import { fieldsOf, fill } from './indexed.js'
import { rawEvents } from './reasoning-story.js'
import { start } from './support.js'
import { begin, call, chat, createTurns, result, stage, stores, thought } from './turns.js'

type Stage = Awaited<ReturnType<typeof stage>>

/** Sends messages of a participant, 500 per request. */
async function sayMany({ say }: Pick<Stage, 'say'>, who: string, what: readonly Sent[]): Promise<void> {
  for (let at = 0; at < what.length; at += 500) await say([who, ...what.slice(at, at + 500)])
}

/** A stage whose log already contains the story, so that thousands of envelopes need not be admitted one by one. */
async function stageWith(story: Parameters<typeof fieldsOf>[0]): Promise<Stage> {
  const store = memoryStore()
  await fill(store, fieldsOf(story))
  const staged = await stage({ store, humans: ['ana'] })
  // Requests get 503 until the log is indexed.
  await expect.poll(async () => (await staged.as('ana').get('/audit?limit=1')).status).toBe(200)
  return staged
}

const to = (participant: string): Sent => ({ to: [participant] })

test('one request for turns looks at no more than 2,000, then says where to go on', async () => {
  const count = 2100
  const open = [1, 50, 99]
  const asks = range(1, count).map((n) => chat(`a${n}`, `ask ${n}`, to('ben')))
  const answers = range(1, count).map((n) =>
    chat(`b${n}`, `so ${n}`, { correlationId: `a${n}`, ...(!open.includes(n) && to('ana')) }),
  )
  const staged = await stageWith([
    ['ana', ...asks],
    ['ben', ...answers],
  ])
  const first = await createTurns(staged, 'stranger', '&limit=2')
  expect(first).toMatchObject({ turns: [], has_more: true, next: 101 })
  const second = await createTurns(staged, 'stranger', `&limit=2&before=${first.next}`)
  expect(second.turns.map(({ turn_number }) => turn_number)).toEqual([50, 99])
  const third = await createTurns(staged, 'stranger', `&limit=2&before=${second.next}`)
  expect(third).toMatchObject({ turns: [{ turn_number: 1 }], has_more: false })
})

test('a page of turns that grows large ends before its limit', async () => {
  const staged = await stage()
  const asks = range(1, 60).map((n) => chat(`a${n}`, 'x'.repeat(200_000)))
  const answers = range(1, 60).map((n) => chat(`b${n}`, 'so', { correlationId: `a${n}` }))
  for (const part of [asks.slice(0, 30), asks.slice(30)]) await staged.say(['ana', ...part])
  await staged.say(['ben', ...answers])
  const found: number[] = []
  let pages = 0
  for (let query = '&limit=1000'; ; pages++) {
    const { turns, next } = await createTurns(staged, 'cleo', query)
    expect(turns.length).toBeLessThan(50)
    found.unshift(...turns.map(({ turn_number }) => turn_number))
    if (next === undefined) break
    query = `&limit=1000&before=${next}`
  }
  expect(pages).toBe(1)
  expect(found).toEqual(range(1, 60))
})

test('one request for steps looks at about 10,000, then says where to go on', async () => {
  const asides = range(1, 10_500).map((n) => thought('run', `aside ${n}`, to('ana')))
  const staged = await stageWith([
    ['ben', begin('run', undefined, 'begin'), thought('run', 'aloud'), ...asides],
  ])
  const page = async (query: string) =>
    (await staged.as('stranger').json(`/audit?phase=thinking${query}`)) as {
      steps: { content: string }[]
      has_more: boolean
      next?: number
    }
  const first = await page('')
  expect(first).toMatchObject({ steps: [], has_more: true })
  const second = await page(`&before=${first.next}`)
  expect([second.steps.map(({ content }) => content), second.has_more]).toEqual([['aloud'], false])
})

test.for(['memory', 'SQLite'] as const)(
  'a long replay gives what was given live, and each update once: %s',
  async (kind) => {
    const { say, url } = await stage({ store: await stores[kind]() })
    const live = rawEvents(url, 'stranger', { query: 'after=2' })
    const total = 120
    for (const n of range(1, total)) {
      await say(
        ['ben', ...(n % 40 === 1 ? [begin(`run${n}`, undefined, 'begin')] : [])],
        ['ben', call(`call${n}`, `run${n - ((n - 1) % 40)}`, 'look', 'to see')],
        ['tool', result(`call${n}`)],
      )
    }
    await say(['ana', chat('end', 'that is all')])
    const blocks = await live
    expect(await rawEvents(url, 'stranger', { query: 'after=2' })).toEqual(blocks)
    expect(blocks.filter((block) => block.startsWith('event: job_reasoning'))).toHaveLength(total)
  },
)

test.for(['/turns?thread_id=test/ben&limit=1000', '/audit?limit=1000', '/audit/export?format=markdown'])(
  'after a few milliseconds of work, other work comes before %s',
  async (path) => {
    const staged = await stage()
    await staged.say(['ben', begin('run', undefined, 'begin')])
    await sayMany(
      staged,
      'ben',
      range(1, 1200).map((n) => thought('run', `thought ${n}`)),
    )
    await sayMany(
      staged,
      'ana',
      range(1, 400).map((n) => chat(`a${n}`, 'ask')),
    )
    await sayMany(
      staged,
      'ben',
      range(1, 400).map((n) => chat(`b${n}`, 'so', { correlationId: `a${n}` })),
    )
    await staged.as('ana').json('/audit?limit=1')
    let [others, isOver] = [0, false]
    const work = () => {
      others++
      if (!isOver) setImmediate(work)
    }
    const answered = staged.as('stranger').get(path)
    work()
    await (await answered).text()
    isOver = true
    expect(others).toBeGreaterThan(4)
  },
)

test('one request for turns looks at no more than some 20,000 envelopes, though none of them may be read', async () => {
  const staged = await stageWith(
    [10, 11_000, 11_000].flatMap((count, place) => {
      const name = `run${place}`
      const asides = range(1, count).map((n) => thought(name, `aside ${n}`, to('ana')))
      return [
        ['ana', chat(`ask-${name}`, 'go', to('ben'))],
        ['ben', begin(name, `ask-${name}`, 'begin', to('ana')), ...asides],
      ] as const
    }),
  )
  expect(await createTurns(staged, 'stranger')).toMatchObject({ turns: [], has_more: true, next: 2 })
  const rest = await createTurns(staged, 'stranger', '&before=2')
  expect(rest).toMatchObject({ turns: [], has_more: false })
})

const views = [
  '/participants',
  '/contexts',
  '/turns?thread_id=test/ana',
  '/audit',
  '/audit/export?format=markdown',
]

test.for(views)('a reader that has used up its work waits for %s, and others do not', async (path) => {
  const clock = new FakeClock()
  const work = { perSecond: 1, burst: 20 }
  const crowd = Object.fromEntries(range(1, 50).map((n) => [`p${n}`, ['x'.repeat(100)]]))
  const participants = { ana: ['*'], bob: ['chat'], ...crowd }
  const { url } = await start({ participants, clock, limits: { rates: { work } } })
  const get = async (who: string, path: string) => (await asking(url, who).get(path)).text()
  await get('ana', '/participants')
  let isAnswered = false
  const answered = get('ana', path).then(() => {
    isAnswered = true
  })
  await get('bob', path)
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(isAnswered).toBe(false)
  clock.advance(1_000_000)
  await answered
})

test.for(['/turns?thread_id=test/ben', '/audit?phase=thinking', '/audit/export?format=markdown'])(
  'what was looked at in vain costs its reader work as well: %s',
  async (path) => {
    const clock = new FakeClock()
    const work = { perSecond: 1, burst: 1000 }
    const staged = await stage({ clock, humans: ['ana'], rates: { stranger: { work } } })
    await sayMany(
      staged,
      'ana',
      range(1, 100).map((n) => chat(`a${n}`, 'ask', to('ben'))),
    )
    await sayMany(
      staged,
      'ben',
      range(1, 100).map((n) => chat(`b${n}`, 'so', { correlationId: `a${n}`, ...to('ana') })),
    )
    await staged.say(['ben', begin('run', undefined, 'begin', to('ana'))])
    await sayMany(
      staged,
      'ben',
      range(1, 300).map((n) => thought('run', `aside ${n}`, to('ana'))),
    )
    await (await staged.as('auditor').get(path)).text()
    let isAnswered = false
    const ask = async () => (await staged.as('stranger').get(path)).text()
    const answered = ask()
      .then(ask)
      .then(() => {
        isAnswered = true
      })
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(isAnswered).toBe(false)
    const goOn = setInterval(() => clock.advance(1_000_000), 10)
    await answered.finally(() => clearInterval(goOn))
  },
)

test('an agent pays for events that tell of all that it has done, and whoever reads them later does as well', async () => {
  const clock = new FakeClock()
  const [own, less] = [12_000, 6000].map((burst) => ({ work: { perSecond: 1, burst } }))
  const { say, as, post } = await stage({ clock, rates: { ben: own ?? {}, stranger: less ?? {} } })
  const live = await as('auditor').events()
  const why = 'because '.repeat(1000)
  await say(['ben', begin('run', undefined, 'begin')])
  let calls = 0
  while (calls < 20 && (await post('ben', call(`call${calls + 1}`, 'run', 'look', why))).status === 201) {
    calls++
    await say(['tool', result(`call${calls}`)])
    await live.next(({ event }) => event === 'job_reasoning')
  }
  expect(calls).toBeGreaterThan(5)
  expect(calls).toBeLessThan(20)
  const later = await as('stranger').events('after=0')
  for (let n = 0; n < calls; n++) await later.next(({ event }) => event === 'job_reasoning')
  expect((await post('stranger', chat('aside', 'aside'))).status).toBe(429)
})

test('an agent pays for what is folded anew for those who may not read all that it has done', async () => {
  const callsWhile = async (reader: string): Promise<number> => {
    const work = { perSecond: 1, burst: 15_000 }
    const staged = await stage({ clock: new FakeClock(), rates: { ben: { work } } })
    const live = await staged.as(reader).events()
    await staged.say([
      'ben',
      begin('run', undefined, 'begin'),
      thought('run', 'aside', to('ana')),
      ...range(1, 300).map((n) => thought('run', `aloud ${n}`)),
    ])
    for (let calls = 0; calls < 80; calls++) {
      const { status } = await staged.post('ben', call(`call${calls}`, 'run', 'look', 'why'))
      if (status !== 201) return calls
      await staged.say(['tool', result(`call${calls}`)])
      await live.next(({ event }) => event === 'job_reasoning')
    }
    return 80
  }
  const [some, all] = [await callsWhile('stranger'), await callsWhile('auditor')]
  expect(some).toBeGreaterThan(5)
  expect(1.5 * some).toBeLessThan(all)
})
