import { existsSync, readFileSync } from 'node:fs'
import { type LogStore, memoryStore, sqliteStore } from '@meup/gateway'
import { createTestDraft, testSpaceConfig } from '@meup/gateway/testing'
import { defaultRates, GATEWAY, Kind } from '@meup/protocol'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { configurationRecord } from '../src/host/space-host.js'
import { segmentRows } from '../src/index/words/segment.js'
import { tokensOf } from '../src/index/words/tokens.js'
import { range } from './client.js'
import { erase } from './erasing.js'
import { asking } from './http-client.js'
import { indexPathOf } from './indexed.js'
import { start, temporaryFile } from './support.js'
import { whenWordsIndexed } from './words.js'

const much = { perSecond: 1e9, burst: 1e9 }
const limits = { rates: { ...defaultRates, chat: much, bytes: much, work: much, control: much } }
const participants = { ana: ['*'], ben: ['*'], eve: ['*', 'observe.targeted', 'space.erase'] }
const configured = configurationRecord(testSpaceConfig({ participants, limits }))

const words = [
  ...[
    'straw',
    'hay',
    'needle',
    'NEEDLE',
    'needles',
    'éclair',
    'eclair',
    'Ἑλλάς',
    'σίσυφος',
    'ΣΊΣΥΦΟΣ',
    'ſtraße',
  ],
  ...[
    '東京',
    '京都',
    '東京都',
    '猫',
    '한국어',
    'naïve',
    'x',
    'é',
    '😀',
    '"',
    'OR',
    '*',
    '"OR*"',
    'NEAR(a,b)',
    'a-b_c',
    '\\u0041',
    "it's",
  ],
]
const total = 2 * segmentRows + 100

/** Random messages; equal seeds give equal messages. */
function messages(seed: number): string[] {
  let state = seed
  const next = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  return range(1, total).map(() =>
    range(0, 1 + next(6))
      .map(() => words[next(next(2) === 0 ? 2 : words.length)])
      .join(' '),
  )
}

function fields(seq: number, message: string) {
  const said = { id: `e${seq}`, ts: new Date(Date.UTC(2026, 1, 21) + seq * 1000).toISOString() }
  if (seq === 1)
    return { ...said, from: GATEWAY, kind: Kind.systemSpace, payload: { event: 'configured', ...configured } }
  const to = seq % 5 === 0 ? ['ben'] : seq % 7 === 0 ? ['ana', 'eve'] : undefined
  return {
    ...said,
    from: seq % 3 === 0 ? 'ben' : 'ana',
    kind: 'chat',
    ...(to && { to }),
    payload: { message },
  }
}

interface Found {
  readonly hits: readonly { readonly seq: number; readonly snippet: string }[]
  readonly has_more: boolean
  readonly next?: number
  readonly searched_to: string | null
}

async function spaceOn(store: LogStore, log = messages(1)) {
  const opened = await store.open('test')
  if (opened.head === 0)
    await opened.append(log.map((message, at) => createTestDraft(at + 1, fields(at + 1, message))))
  const running = await start({ participants, limits, store: { ...store, open: async () => opened } })
  const page = async (query: string, as = 'ana') =>
    (await asking(running.url, as).json(`/search?${query}`)) as Found
  const all = async (query: string, as = 'ana'): Promise<number[]> => {
    const seqs: number[] = []
    for (let before: number | undefined = 1e9; before !== undefined; ) {
      const { hits, next } = await page(`limit=1000&before=${before}&${query}`, as)
      seqs.push(...hits.map(({ seq }) => seq))
      before = next
    }
    return seqs
  }
  return { ...running, page, all }
}

async function indexed(log = messages(1)) {
  const path = temporaryFile('log.db')
  const space = await spaceOn(await sqliteStore({ path }), log)
  await whenWordsIndexed(path, 2)
  return { ...space, path }
}

const text = (query: string): string => `text=${encodeURIComponent(query)}`

test('the index finds what a search of the whole log finds, for each reader', async () => {
  const [onDisk, inMemory] = [await indexed(), await spaceOn(memoryStore())]
  const queries = [
    ...['needle', 'ΣΊΣΥΦΟΣ', '東京', '猫', '한국어', 'é', '😀', '"OR*"', 'NEAR(a,b)', '\\u0041'],
    ...['needle straw', 'STRASSE', 'chat needle', 'ben σίσ', 'no-such-word', '" OR *', 'needle* OR'],
  ].map(text)
  queries.push(
    `${text('needle')}&from=ben`,
    `${text('needle')}&since=2026-02-21T00:30:00Z&until=2026-02-21T00:40:00Z`,
  )
  for (const query of queries)
    for (const as of ['ana', 'eve'])
      expect([query, as, await onDisk.all(query, as)]).toEqual([query, as, await inMemory.all(query, as)])
})

test('pages of a few hits give each of them once', async () => {
  const { page, all } = await indexed()
  const seqs: number[] = []
  for (let before: number | undefined = 1e9; before !== undefined; ) {
    const { hits, next, has_more } = await page(`${text('needles')}&limit=7&before=${before}`)
    seqs.push(...hits.map(({ seq }) => seq))
    expect(has_more).toBe(next !== undefined)
    before = next
  }
  expect(seqs).toEqual(await all(text('needles')))
})

describe('what leaves the log leaves its words', () => {
  const secret = 'qzx7kvwj9qpz'
  const toBytes = (token: number): Buffer => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(token)
    return bytes
  }
  const indexBytes = (path: string): Buffer =>
    Buffer.concat(
      ['', '-wal']
        .map((end) => `${indexPathOf(path)}${end}`)
        .filter(existsSync)
        .map((file) => readFileSync(file)),
    )
  const withSecret = (at: number) => messages(1).map((message, index) => (index === at ? secret : message))

  test('an erased row is found no more, nor are its tokens in the file', async () => {
    const space = await indexed(withSecret(100))
    expect(await space.all(text(secret))).toEqual([101])
    const tokens = [...tokensOf(secret)].map(toBytes)
    expect(tokens.every((token) => indexBytes(space.path).includes(token))).toBe(true)
    expect((await erase(space.url, { seq: 101, reason: 'a secret' })).status).toBe(201)
    expect(await space.all(text(secret), 'eve')).toEqual([])
    await whenWordsIndexed(space.path, 2)
    await space.close()
    const left = indexBytes(space.path)
    expect(tokens.filter((token) => left.includes(token))).toEqual([])
  })
  test('so do pruned rows', async () => {
    const space = await indexed(withSecret(100))
    await space.close()
    const store = await sqliteStore({ path: space.path })
    const again = await start({ participants, limits, store, retention: { days: 1 } })
    await whenWordsIndexed(space.path, 0)
    await again.close()
    expect(
      [...tokensOf(secret)].map(toBytes).filter((token) => indexBytes(space.path).includes(token)),
    ).toEqual([])
  })

  test('a damaged file is built again, and the log is searched meanwhile', async () => {
    const space = await indexed(withSecret(100))
    const db = new Sqlite(indexPathOf(space.path))
    db.exec('DROP TABLE words')
    db.close()
    expect(await space.all(text(secret))).toEqual([101])
    await whenWordsIndexed(space.path, 2)
    expect(await space.all(text(secret))).toEqual([101])
  })

  test('a thought that is hidden later is found by its sender alone', async () => {
    const path = temporaryFile('log.db')
    const space = await spaceOn(await sqliteStore({ path }), messages(1))
    const run = { id: 'run', kind: 'reasoning.start', payload: { message: 'so' } }
    const thought = { id: 't', kind: 'reasoning.thought', context: 'run', payload: { message: secret } }
    const rest = range(1, segmentRows).map((at) => ({
      id: `r${at}`,
      kind: 'chat',
      payload: { message: 'hay' },
    }))
    for (const part of [[run, thought], ...range(0, 4).map((at) => rest.slice(at * 500, (at + 1) * 500))])
      await space.post('ben', part)
    await whenWordsIndexed(path, 3)
    expect(await space.all(text(secret))).toHaveLength(1)
    await space.post('ben', {
      kind: 'observe.visibility',
      payload: { context: 'run', reasoningVisible: false },
    })
    expect([await space.all(text(secret)), await space.all(text(secret), 'eve')]).toEqual([[], []])
    expect(await space.all(text(secret), 'ben')).toHaveLength(1)
    await whenWordsIndexed(path, 3)
    expect([await space.all(text(secret)), await space.all(text(secret), 'eve')]).toEqual([[], []])
    expect(await space.all(text(secret), 'ben')).toHaveLength(1)
    await space.post('ben', {
      kind: 'observe.visibility',
      payload: { context: 'run', reasoningVisible: true },
    })
    expect(await space.all(text(secret))).toHaveLength(1)
  })
})
