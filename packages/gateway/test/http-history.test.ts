import { type LogStore, memoryStore, sqliteStore } from '@meup/gateway'
import { GATEWAY } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { range, type Sent, seqs } from './client.js'
import { asking, type Page } from './http-client.js'
import { start, temporaryFile } from './support.js'

const participants = { alice: ['*'], bob: ['*'], carol: ['*'], auditor: ['observe.targeted'] }
const chat = (message = 'hello'): Sent => ({ kind: 'chat', payload: { message } })
const request: Sent = { kind: 'mcp.request', payload: { method: 'tools/list' } }
const ids = ({ envelopes }: Page): string[] => envelopes.map(({ id }) => id)

const stores: [string, () => Promise<LogStore>][] = [
  ['memory', async () => memoryStore()],
  ['sqlite', () => sqliteStore({ path: temporaryFile('log.db') })],
]

/** Messages in a small space, with their senders; seq 1 and 2 are envelopes of the gateway. */
const said: [from: string, Sent & { id: string }][] = [
  ['alice', { id: 'hi', ...chat() }],
  ['bob', { id: 'run', kind: 'reasoning.start', correlationId: 'hi' }],
  ['bob', { id: 'think', kind: 'reasoning.thought', context: 'run', payload: { message: 'hm' } }],
  ['alice', { id: 'guess', kind: 'reasoning.guess', context: 'run' }],
  ['bob', { id: 'inner', kind: 'reasoning.start', context: 'run' }],
  ['bob', { id: 'ask', ...request, to: ['carol'], context: 'run/inner' }],
  ['carol', { id: 'tell', kind: 'mcp.response', correlationId: 'ask', payload: { result: {} } }],
  ['bob', { id: 'end', kind: 'reasoning.conclusion', context: 'run' }],
  ['alice', { id: 'aside', ...chat(), context: 'runner' }],
  ['bob', { id: 'answer', ...chat(), correlationId: ['hi', 'run'] }],
  ['alice', { id: 'psst', ...chat(), to: ['bob'] }],
  ['carol', { id: 'free', kind: 'x.y', correlationId: 'answer' }],
]

async function smallSpace(store: LogStore = memoryStore()) {
  const running = await start({ participants, store, humans: ['alice'] })
  for (const [from, sent] of said) {
    const { status, body } = await running.post(from, sent)
    if (status !== 201) throw new Error(JSON.stringify(body))
  }
  return { ...running, as: (participant: string) => asking(running.url, participant) }
}

const everyoneMay = said.map(([, { id }]) => id).filter((id) => id !== 'psst')

describe.each(stores)('GET envelopes, from %s', (_, openStore) => {
  test('gives what each filter selects, and what all of them do together', async () => {
    const { as } = await smallSpace(await openStore())
    const carol = as('carol')
    const cases: [query: string, expected: string[]][] = [
      ['after=2', everyoneMay],
      ['kind=chat', ['hi', 'aside', 'answer']],
      ['kind=chat&kind=x.y', ['hi', 'aside', 'answer', 'free']],
      ['kind=mcp.request,mcp.response', ['ask', 'tell']],
      ['kind=nothing.such', []],
      ['from=carol', ['tell', 'free']],
      ['from=carol,alice', ['hi', 'guess', 'tell', 'aside', 'free']],
      ['from=carol&from=alice', ['hi', 'guess', 'tell', 'aside', 'free']],
      ['context=run', ['run', 'think', 'guess', 'inner', 'ask', 'end']],
      ['context=run/inner', ['inner', 'ask']],
      ['correlationId=hi', ['run', 'answer']],
      ['correlationId=answer', ['free']],
      ['reasoning=full&after=2', everyoneMay],
      ['reasoning=boundaries&after=2', everyoneMay.filter((id) => id !== 'think' && id !== 'guess')],
      [
        'reasoning=none&after=2',
        everyoneMay.filter((id) => !['think', 'guess', 'inner', 'end'].includes(id)),
      ],
      ['reasoning=boundaries&context=run', ['run', 'inner', 'ask', 'end']],
      ['after=4&before=7', ['think', 'guess']],
      ['after=2&limit=2', ['hi', 'run']],
      ['order=desc&limit=2', ['free', 'answer']],
      ['order=desc&before=13&limit=2', ['answer', 'aside']],
      ['kind=reasoning.thought,chat&from=bob&context=run&after=2&before=14&order=desc', ['think']],
      ['from=bob&context=run&reasoning=boundaries&order=desc&limit=2', ['end', 'ask']],
      ['from=bob&correlationId=hi&kind=chat', ['answer']],
    ]
    for (const [query, expected] of cases)
      expect([query, ids(await carol.history(query))]).toEqual([query, expected])
    const { envelopes } = await carol.history(`from=${GATEWAY}`)
    expect(envelopes.map(({ kind }) => kind)).toEqual(['system.space', 'system.space'])
  })

  test('tells epoch, head and where to go on, and page by page gives everything once', async () => {
    const { as, url, gateway } = await smallSpace(await openStore())
    const head = 2 + said.length
    const whole = await as('carol').history()
    expect(whole).toMatchObject({ head, has_more: false, epoch: expect.stringMatching(/./) })
    expect(whole).not.toHaveProperty('next')
    expect(gateway.report()).toMatchObject([{ head }])
    const expected = seqs(whole.envelopes)
    expect(expected).toEqual(range(1, head).filter((seq) => seq !== 13))

    for (const [order, sorted] of [
      ['asc', expected],
      ['desc', [...expected].reverse()],
    ] as const) {
      for (const limit of [1, 3, expected.length - 1, expected.length, 1000]) {
        const seen: number[] = []
        let path: string | undefined = `/spaces/test/envelopes?order=${order}&limit=${limit}`
        while (path !== undefined) {
          const response: Response = await fetch(url + path, {
            headers: { authorization: 'Bearer token-of-carol' },
          })
          const page = (await response.json()) as Page
          expect(page.envelopes.length).toBeLessThanOrEqual(limit)
          seen.push(...seqs(page.envelopes))
          const link = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
          expect(page.has_more).toBe(link !== undefined)
          const name = order === 'asc' ? 'after' : 'before'
          if (link) expect(new URLSearchParams(link.slice(1)).get(name)).toBe(`${page.next}`)
          path = link && `/spaces/test/envelopes${link}`
        }
        expect([order, limit, seen]).toEqual([order, limit, sorted])
      }
    }
  })

  test('finds what a reader may see behind much that it may not', async () => {
    const { as, post } = await smallSpace(await openStore())
    const aside = { ...chat('psst'), to: ['bob'] }
    for (let round = 0; round < 2; round++)
      await post(
        'alice',
        range(1, 500).map(() => aside),
      )
    await post('alice', { id: 'last', ...chat() })
    expect(ids(await as('carol').history('after=3&limit=12'))).toEqual([...everyoneMay.slice(1), 'last'])
    expect(ids(await as('carol').history('order=desc&limit=2'))).toEqual(['last', 'free'])
    expect((await as('bob').history('after=3&limit=1000')).envelopes).toHaveLength(1000)
  })
})

describe('GET envelopes', () => {
  test('gives the very bytes that were delivered, as JSON and as lines', async () => {
    const { connect, url } = await start({ participants })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    const payloads = [
      '{"message":"x","big":12345678901234567890123,"small":1.0e-7,"zero":-0}',
      '{ "message" :\t"\\u0061\\/\\n" , "z":1,"a":{ } }',
      '{"message":"<b>&amp; 😀\u2028","é":"\\ud83d\\ude00"}',
    ]
    for (const payload of payloads) alice.send(`{"kind":"chat","to":["bob"],"payload":${payload}}`)
    const { id } = await alice.accepted(chat('mark'))
    const frames = await bob.until((frame) => frame.id === id)
    const texts = frames.flatMap((frame) => bob.texts.get(frame) ?? [])
    const [first] = seqs(frames)
    const { lines, get } = asking(url, 'bob')
    const query = `after=${(first ?? 0) - 1}`
    expect(await lines(query)).toEqual(texts)
    const response = await get(`/envelopes?${query}`)
    expect(response.headers.get('content-type')).toBe('application/json')
    const { epoch } = bob.welcome.space
    const head = seqs(frames).at(-1)
    const rest = `"epoch":"${epoch}","head":${head},"has_more":false`
    expect(await response.text()).toBe(`{"envelopes":[${texts.join(',')}],${rest}}`)
  })

  test('keeps an envelope on one line, whatever white space it was sent with', async () => {
    const { connect, url } = await start({ participants })
    const alice = await connect('alice')
    alice.send('{"id":"broken","kind":"chat","payload":{\n "message":\r\n"a\\nb" }}')
    const frame = await alice.next(({ id }) => id === 'broken')
    const [line = '', ...more] = await asking(url, 'bob').lines('kind=chat')
    expect(more).toEqual([])
    expect(JSON.parse(line)).toEqual(frame)
    expect(line).toBe(alice.texts.get(frame)?.replaceAll(/[\r\n]/g, ' '))
    expect(await (await asking(url, 'bob').get('/envelopes?kind=chat')).text()).toContain(
      alice.texts.get(frame),
    )
  })

  test('takes what is asked for more before what is asked for less', async () => {
    const { as } = await smallSpace()
    const type = async (accept: string) =>
      (await as('bob').get('/envelopes?limit=1', { accept })).headers.get('content-type')
    expect(await type('application/x-ndjson')).toBe('application/x-ndjson')
    expect(await type('application/x-ndjson;q=0.5, application/json')).toBe('application/json')
    expect(await type('application/json;q=0.1, application/x-ndjson')).toBe('application/x-ndjson')
    for (const accept of ['*/*', 'text/html']) expect(await type(accept)).toBe('application/json')
  })

  test('answers with nothing where there is nothing', async () => {
    const { as } = await smallSpace()
    for (const query of [
      'after=14',
      'after=9007199254740991',
      'before=1',
      'after=5&before=6',
      'kind=no.such',
    ]) {
      for (const order of ['asc', 'desc']) {
        expect(await as('bob').history(`${query}&order=${order}`)).toMatchObject({
          envelopes: [],
          has_more: false,
        })
      }
    }
    expect(await as('bob').lines('kind=no.such')).toEqual([])
  })

  test.for<[query: string, says: string]>([
    ['after=-1', 'a whole number from 0'],
    ['after=', 'a whole number from 0'],
    ['after=1e3', 'a whole number from 0'],
    ['after=99999999999999999', 'after must be'],
    ['before=0', 'a whole number from 1'],
    ['limit=0', 'a whole number from 1 to 1000'],
    ['limit=1001', 'a whole number from 1 to 1000'],
    ['limit=3&limit=4', 'a whole number from 1 to 1000'],
    ['order=up', 'asc or desc'],
    ['reasoning=some', 'full or boundaries or none'],
    ['kind=Chat', 'kind'],
    ['kind=chat,', 'kind'],
    [`kind=${range(1, 65).map((count) => `x.y${count}`)}`, 'kind'],
    ['from=a/b', 'from'],
    ['context=a//b', 'context'],
    ['context=', 'context'],
    ['correlationId=a.b', 'correlationId'],
    ['knid=chat', 'after, before, limit'],
    ['epoch=x', 'epoch'],
  ])('refuses %s', async ([query, says]) => {
    const { as } = await smallSpace()
    const response = await as('bob').get(`/envelopes?${query}`)
    expect([response.status, response.headers.get('content-type')]).toEqual([400, 'application/problem+json'])
    expect(await response.json()).toMatchObject({
      code: 'invalid_request',
      detail: expect.stringContaining(says),
    })
  })
})
