import type { LogStore } from '@meup/gateway'
import { memoryStore, sqliteStore } from '@meup/gateway'
import { defaultRates } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import type { Sent } from './client.js'
import { asking } from './http-client.js'
import { start, temporaryFile } from './support.js'

interface Found {
  readonly hits: readonly {
    readonly seq: number
    readonly id: string
    readonly snippet: string
    readonly ranges: readonly [number, number][]
    readonly tool?: string
  }[]
  readonly searched_to: string | null
  readonly has_more: boolean
  readonly next?: number
}

const participants = { alice: ['*'], bob: ['*'], files: ['*'], carol: ['chat'] }
const stores: [string, () => Promise<LogStore>][] = [
  ['memory', async () => memoryStore()],
  ['sqlite', () => sqliteStore({ path: temporaryFile('log.db') })],
]
const call = (id: string, name: string, path: string): Sent & { id: string } => ({
  ...{ id, kind: 'mcp.request', to: ['files'], rationale: 'the invoice says which port' },
  payload: {
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: { path, apiKey: 'hush' } },
  },
})
const answer = (id: string, to: string, result: object): Sent & { id: string } => ({
  ...{ id, kind: 'mcp.response', correlationId: to },
  payload: { jsonrpc: '2.0', id: to, result },
})

const said: [from: string, Sent & { id: string }][] = [
  ['alice', { id: 'ask', kind: 'chat', payload: { message: 'Which *port* does the Server listen on?' } }],
  ['bob', { id: 'run', kind: 'reasoning.start', correlationId: 'ask' }],
  [
    'bob',
    { id: 'hm', kind: 'reasoning.thought', context: 'run', payload: { message: 'the config says the Port' } },
  ],
  ['bob', { ...call('read', 'read_text_file', 'server.conf'), context: 'run' }],
  [
    'files',
    answer('text', 'read', { content: [{ type: 'text', text: `${'# '.repeat(400)}\nlisten 8080 # PORT` }] }),
  ],
  ['bob', { ...call('edit', 'edit_file', 'port.txt'), context: 'run' }],
  ['files', answer('no', 'edit', { content: [{ type: 'text', text: 'the port is taken' }], isError: true })],
  ['alice', { id: 'secret', kind: 'chat', to: ['bob'], payload: { message: 'the port of the vault is 1' } }],
  ['bob', { id: 'end', kind: 'reasoning.conclusion', context: 'run', payload: { message: 'over' } }],
]

async function space(store: LogStore = memoryStore()) {
  const running = await start({ participants, store })
  for (const [from, sent] of said) {
    const { status, body } = await running.post(from, sent)
    if (status !== 201) throw new Error(JSON.stringify(body))
  }
  const search = async (as: string, query: string) =>
    (await asking(running.url, as).json(`/search?${query}`)) as Found
  const ids = async (as: string, query: string) => (await search(as, query)).hits.map(({ id }) => id)
  return { ...running, search, ids }
}

describe.each(stores)('GET search, from %s', (_, openStore) => {
  test('finds all words in any case, newest first, by sender, kind, tool and outcome', async () => {
    const { ids } = await space(await openStore())
    const cases: [query: string, expected: string[]][] = [
      ['text=port', ['no', 'edit', 'read', 'text', 'hm', 'ask'].sort(byLog).reverse()],
      ['text=PORT+server', ['read', 'ask']],
      ['text=invoice', ['edit', 'read']],
      ['text=port&from=bob', ['edit', 'read', 'hm']],
      ['text=port&kind=reasoning.thought,chat', ['hm', 'ask']],
      ['text=port&tool=edit_file', ['no', 'edit']],
      ['text=port&tool=files/edit_file', ['no', 'edit']],
      ['text=port&tool=bob/edit_file', []],
      ['tool=read_text_file', ['text', 'read']],
      ['text=port&outcome=error', ['no']],
      ['text=port&outcome=success', ['text']],
      ['outcome=error&kind=chat', []],
      ['text=hush', []],
      ['text=no+such+words', []],
      ['text=vault', []],
      ['text=(port', []],
    ]
    for (const [query, expected] of cases)
      expect([query, await ids('carol', query)]).toEqual([query, expected])
    expect(await ids('bob', 'text=vault')).toEqual(['secret'])
  })
})

/** Compares two ids by their order in the log. */
const byLog = (one: string, other: string): number => place(one) - place(other)
const place = (id: string): number => said.findIndex(([, sent]) => sent.id === id)

test('shows where the words are, in a line around the first of them', async () => {
  const { search } = await space()
  const [hit] = (await search('carol', 'text=port&outcome=success')).hits
  expect(hit?.tool).toBe('read_text_file')
  expect(hit?.snippet).toMatch(/^….*listen 8080 # PORT$/)
  expect(hit?.snippet.length).toBeLessThan(210)
  const [[start = 0, end = 0] = []] = hit?.ranges ?? []
  expect(hit?.snippet.slice(start, end)).toBe('PORT')
})

test('a denied call is found as rejected, with its tool', async () => {
  const { post, ids, search } = await space()
  expect((await post('carol', call('try', 'edit_file', 'port.txt'))).status).toBe(403)
  expect((await ids('carol', 'outcome=rejected&tool=edit_file')).length).toBe(1)
  expect((await ids('carol', 'outcome=rejected&tool=files/edit_file')).length).toBe(1)
  expect((await search('carol', 'outcome=rejected')).hits[0]?.snippet).toContain('edit_file')
})

test('a page goes on where it ended, and tells nothing of what may not be read', async () => {
  const { search } = await space()
  const first = await search('carol', 'text=port&limit=2')
  expect(first.hits.map(({ id }) => id)).toEqual(['no', 'edit'])
  expect(first.has_more).toBe(true)
  const second = await search('carol', `text=port&limit=2&before=${first.next}`)
  expect(second.hits.map(({ id }) => id)).toEqual(['text', 'read'])
  const third = await search('carol', `text=port&before=${second.next}`)
  expect([third.hits.map(({ id }) => id), third.has_more]).toEqual([['hm', 'ask'], false])
  const limited = await search('carol', 'text=port&limit=1&kind=chat')
  expect([limited.hits.length, limited.has_more]).toEqual([1, false])
})

test('times bound what is looked at', async () => {
  const { search, ids } = await space()
  const { hits } = await search('carol', 'text=port')
  const now = new Date(Date.now() + 60_000).toISOString()
  const then = new Date(Date.now() - 60_000).toISOString()
  expect(await ids('carol', `text=port&since=${then}&until=${now}`)).toEqual(hits.map(({ id }) => id))
  expect(await ids('carol', `text=port&since=${now}`)).toEqual([])
  expect(await ids('carol', `text=port&until=${then}`)).toEqual([])
})

const much = { perSecond: 1e9, burst: 1e9 }
const rates = { ...defaultRates, chat: much, bytes: much, work: much }

test('a long log is searched part by part, and says how far', async () => {
  const { post, search } = await start({
    participants,
    limits: { rates },
  }).then((running) => ({
    ...running,
    search: async (query: string) => (await asking(running.url, 'alice').json(`/search?${query}`)) as Found,
  }))
  const chats = (count: number, message: string) =>
    Array.from({ length: count }, () => ({ kind: 'chat', payload: { message } }))
  await post('alice', chats(1, 'the needle'))
  for (let i = 0; i < 21; i++) await post('alice', chats(500, 'straw'))
  const first = await search('text=needle')
  expect([first.hits, first.has_more]).toEqual([[], true])
  expect(first.searched_to).toMatch(/^\d{4}-/)
  const second = await search(`text=needle&before=${first.next}`)
  expect([second.hits.length, second.has_more]).toEqual([1, false])
})

test('what is unreadable in a query is refused with its name', async () => {
  const { url } = await space()
  for (const query of [
    `text=${'x'.repeat(257)}`,
    'outcome=maybe',
    'since=yesterday',
    'words=x',
    'text=a&text=b',
  ]) {
    const response = await asking(url, 'carol').get(`/search?${query}`)
    expect([query, response.status]).toEqual([query, 400])
  }
})

test('a response tells no tool of a call that its reader may not read', async () => {
  const hidden = { participants, mcp: { visibility: 'addressees' as const } }
  const { url, post } = await start(hidden)
  await post('bob', call('read', 'read_secret', 'server.conf'))
  await post('files', {
    ...answer('text', 'read', { content: [{ type: 'text', text: 'the port' }] }),
    to: ['carol'],
  })
  const { hits } = (await asking(url, 'carol').json('/search?text=port')) as Found
  expect(hits.map(({ id, tool }) => [id, tool])).toEqual([['text', undefined]])
  expect(((await asking(url, 'carol').json('/search?tool=read_secret')) as Found).hits).toEqual([])
})

test('what may not be read changes nothing of an answer, whatever time is asked for', async () => {
  const { post, search } = await space()
  const asked = [
    'text=port&limit=1',
    'text=port&since=2000-01-01T00:00:00Z',
    'text=port&until=2100-01-01T00:00:00Z',
  ]
  const before = await Promise.all(asked.map((query) => search('carol', query)))
  for (let i = 0; i < 5; i++)
    await post('alice', { kind: 'chat', to: ['bob'], payload: { message: 'a port for bob' } })
  expect(await Promise.all(asked.map((query) => search('carol', query)))).toEqual(before)
})
