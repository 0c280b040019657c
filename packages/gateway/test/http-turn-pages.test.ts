import { describe, expect, test } from 'vitest'
import { range } from './client.js'
import { chat, createTurns, stage, type TurnPage } from './turns.js'

/** Lets ana ask ben this number of questions, which he answers without a tool. */
async function answered(times: number, options: Parameters<typeof stage>[0] = {}) {
  const staged = await stage(options)
  for (const count of range(1, times)) {
    await staged.say(
      ['ana', chat(`ask${count}`, `what is ${count}?`)],
      ['ben', chat(`is${count}`, `it is ${count}`, { correlationId: `ask${count}` })],
    )
  }
  return staged
}

const numbers = ({ turns }: TurnPage): number[] => turns.map(({ turn_number }) => turn_number)

describe('pages of turns', () => {
  test('begin with the newest, each in the order of its turns, and together are all of them', async () => {
    const staged = await answered(11)
    const found: number[][] = []
    let path = '/turns?thread_id=test/ben&limit=4'
    for (;;) {
      const response = await staged.as('cleo').get(path)
      const page = (await response.json()) as TurnPage
      found.push(numbers(page))
      expect(page.has_more).toBe(page.next !== undefined)
      if (page.next === undefined) break
      const link = /^<(\?[^>]*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
      expect(new URLSearchParams(link).get('before')).toBe(`${page.next}`)
      path = `/turns${link}`
    }
    expect(found).toEqual([
      [8, 9, 10, 11],
      [4, 5, 6, 7],
      [1, 2, 3],
    ])
  })

  test.for<[query: string, expected: number[], more: boolean]>([
    ['', range(3, 22), true],
    ['&limit=22', range(1, 22), false],
    ['&limit=21', range(2, 22), true],
    ['&before=2', [1], false],
    ['&before=1', [], false],
    ['&before=1000000000', range(3, 22), true],
    ['&before=9007199254740991&limit=1', [22], true],
  ])('with "%s" are %o', async ([query, expected, more]) => {
    const staged = await answered(22)
    const page = await createTurns(staged, 'cleo', query)
    expect([numbers(page), page.has_more]).toEqual([expected, more])
  })

  test('leave out turns of which nothing may be read, and say rightly whether there are more', async () => {
    const staged = await stage()
    for (const count of range(1, 50)) {
      const isOpen = count % 10 === 5
      const more = isOpen ? {} : { to: ['ben'] }
      await staged.say(
        ['ana', chat(`ask${count}`, `ask ${count}`, more)],
        [
          'ben',
          chat(`is${count}`, 'so', { correlationId: `ask${count}`, ...(isOpen ? {} : { to: ['ana'] }) }),
        ],
      )
    }
    const pages = async (reader: string, limit: number) => {
      const found: [number[], boolean][] = []
      for (let query = `&limit=${limit}`; ; ) {
        const page = await createTurns(staged, reader, query)
        found.push([numbers(page), page.has_more])
        if (page.next === undefined) return found
        query = `&limit=${limit}&before=${page.next}`
      }
    }
    expect(await pages('stranger', 2)).toEqual([
      [[35, 45], true],
      [[15, 25], true],
      [[5], false],
    ])
    expect(await pages('stranger', 5)).toEqual([[[5, 15, 25, 35, 45], false]])
    expect((await pages('ana', 20)).flatMap(([turns]) => turns)).toHaveLength(50)
    expect((await pages('auditor', 20)).flatMap(([turns]) => turns)).toHaveLength(50)
  })
})

describe('a query for turns', () => {
  test.for([
    ['thread_id=test/ben&before=0', 'a whole number from 1'],
    ['thread_id=test/ben&before=-1', 'a whole number from 1'],
    ['thread_id=test/ben&before=abc', 'a whole number from 1'],
    ['thread_id=test/ben&before=1.5', 'a whole number from 1'],
    ['thread_id=test/ben&before=99999999999999999999', 'a whole number from 1'],
    ['thread_id=test/ben&limit=0', 'limit must be'],
    ['thread_id=test/ben&limit=1001', 'limit must be'],
    ['thread_id=test/ben&turn=1', 'turn'],
    ['', 'thread_id'],
    ['thread_id=', 'thread_id'],
    ['thread_id=ben', 'thread_id'],
    ['thread_id=test/ben/more', 'thread_id'],
    ['thread_id=other/ben', 'thread_id'],
    ['thread_id=test/ben&thread_id=test/cleo', 'thread_id'],
  ] as const)('with %s is refused', async ([query, says]) => {
    const { as } = await stage()
    const response = await as('ana').get(`/turns?${query}`)
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { code: 'invalid_request', detail: expect.stringContaining(says) },
    ])
  })

  test('for a thread of nobody says whose there are', async () => {
    const { as } = await stage()
    const response = await as('ana').get('/turns?thread_id=test/bne')
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { code: 'not_found', detail: expect.stringContaining('ana, ben, cleo') },
    ])
    expect(await as('ana').json('/turns?thread_id=test/stranger')).toEqual({
      thread_id: 'test/stranger',
      turns: [],
      has_more: false,
    })
  })
})
