import { type EnvelopeLog, type LogStore, memoryStore, type Query } from '@meup/gateway'
import { describe, expect, test } from 'vitest'
import { freshId, range, seqs } from './client.js'
import { asking, type Page } from './http-client.js'
import { isIndexing } from './indexing.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['*'] }

describe('one request for envelopes', () => {
  test('looks at no more than 10,000 envelopes at once, then says where to go on', async () => {
    const [store, queries] = watched(memoryStore())
    const log = await store.open('test')
    const body = (id: string) => Buffer.from(`{"id":"${id}","kind":"x.y","from":"bob","payload":{}}`)
    const ts = '2026-01-01T00:00:00.000Z'
    const total = 25_000
    const rare = [9999, 10_000, 10_001, 15_000, 15_001, 20_000, 20_001, total]
    await log.append(
      range(1, total).map((seq) => {
        const [id, kind] = [freshId(), rare.includes(seq) ? 'x.rare' : 'x.y']
        return { seq, id, ts, from: 'bob', kind, body: body(id), content: body(id) }
      }),
    )
    const { url } = await start({ participants, store })

    const walk = async (order: 'asc' | 'desc', filter: string) => {
      const pages: number[][] = []
      let query: string | undefined = order === 'asc' ? 'after=0' : `before=${total + 1}`
      while (query !== undefined) {
        queries.length = 0
        const page: Page = await asking(url, 'bob').history(`${query}&order=${order}&${filter}`)
        for (const { after = 0, before = Number.POSITIVE_INFINITY } of queries) {
          expect(before - after - 1).toBeLessThanOrEqual(10_000)
        }
        pages.push(seqs(page.envelopes))
        const name = order === 'asc' ? 'after' : 'before'
        query = page.has_more ? `${name}=${page.next}` : undefined
      }
      return pages
    }
    expect(await walk('asc', 'kind=x.rare')).toEqual([
      [9999, 10_000],
      [10_001, 15_000, 15_001, 20_000],
      [20_001, total],
    ])
    expect(await walk('desc', 'kind=x.rare')).toEqual([
      [total, 20_001, 20_000, 15_001],
      [15_000, 10_001, 10_000, 9999],
      [],
    ])
    expect(await walk('asc', 'correlationId=nothing')).toEqual([[], [], []])
  })

  test('ends a page that grows large before its limit', async () => {
    const { post, url } = await start({ participants })
    const large = { kind: 'chat', payload: { message: 'x'.repeat(200_000) } }
    for (const ids of [range(1, 50), range(51, 100)]) {
      await post(
        'alice',
        ids.map((id) => ({ id: `m${id}`, ...large })),
      )
    }
    const page = await asking(url, 'bob').history('kind=chat&limit=1000')
    expect(page.has_more).toBe(true)
    expect(page.envelopes.length).toBeLessThan(60)
    const rest = await asking(url, 'bob').history(`kind=chat&limit=1000&after=${page.next}`)
    expect([...page.envelopes, ...rest.envelopes].slice(0, 80).map(({ id }) => id)).toEqual(
      range(1, 80).map((id) => `m${id}`),
    )
  })
})

/** A store that records the reads of its logs, except those of the indexer. */
function watched(inner: LogStore): [LogStore, Query[]] {
  const queries: Query[] = []
  const store: LogStore = {
    async open(space) {
      const log = await inner.open(space)
      const read: EnvelopeLog['read'] = (query) => {
        if (!isIndexing(query)) queries.push(query)
        return log.read(query)
      }
      return Object.assign(Object.create(log) as EnvelopeLog, { read })
    },
    close: () => inner.close(),
  }
  return [store, queries]
}
