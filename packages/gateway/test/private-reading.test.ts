import { type LogStore, memoryStore, sqliteStore } from '@meup/gateway'
import { createTestDraft, testSpaceConfig } from '@meup/gateway/testing'
import { GATEWAY, Kind } from '@meup/protocol'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Rates } from '../src/core/metering.js'
import { configurationRecord } from '../src/host/space-host.js'
import { segmentRows } from '../src/index/words/segment.js'
import { watched } from './audit-export.js'
import { byId, range } from './client.js'
import { asking } from './http-client.js'
import { start, temporaryFile } from './support.js'
import { whenWordsIndexed } from './words.js'

const participants = { ana: ['*'], ben: ['*'], eve: ['*'] }
const mcp = { visibility: 'addressees' } as const
const configured = configurationRecord(testSpaceConfig({ participants, mcp }))

/** Fields of the envelopes that eve may not read; they take every tenth seq. */
interface Hidden {
  readonly from: string
  readonly kind: string
  readonly correlationId?: string | string[]
  readonly context?: string
  readonly size: number
}

const total = 600
const large: Hidden = { from: 'ben', kind: 'chat', correlationId: 'e2', size: 200_000 }
const others: Record<string, Hidden> = {
  'small ones': { ...large, size: 1 },
  'ones of another sender and kind': { from: 'ana', kind: 'x.y', size: 200_000 },
  'calls and thoughts of a run': { from: 'ben', kind: Kind.mcpRequest, context: 'e2', size: 1 },
  'ones that answer many': {
    from: 'ana',
    kind: 'chat',
    correlationId: range(1, 16).map((at) => `a${at}`),
    size: 1,
  },
}
const isHidden = (seq: number): boolean => seq % 10 === 0

function fields(seq: number, hidden: Hidden) {
  const said = { id: `e${seq}`, ts: '2026-02-21T00:00:00.000Z' }
  if (seq === 1)
    return { ...said, from: GATEWAY, kind: Kind.systemSpace, payload: { event: 'configured', ...configured } }
  if (seq === 2) return { ...said, from: 'ben', kind: Kind.reasoningStart, payload: { message: 'hm' } }
  if (!isHidden(seq)) {
    const [from, kind] = seq % 3 === 0 ? ['ben', 'chat'] : ['ana', 'x.z']
    return { ...said, from, kind, payload: { message: 'hm' } }
  }
  const { size, ...about } = hidden
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x'.repeat(size) } }
  return {
    ...said,
    ...about,
    to: ['ana'],
    payload: about.kind === Kind.mcpRequest ? call : { message: 'x'.repeat(size) },
  }
}

/** Costs of each request of eve: the units charged, and the reads of the log with the bytes of their bodies. */
async function costs(
  hidden: Hidden,
  paths: readonly string[],
  {
    inner = memoryStore(),
    size = total,
  }: { readonly inner?: LogStore | undefined; readonly size?: number } = {},
) {
  const log = await inner.open('test')
  await log.append(range(1, size).map((seq) => createTestDraft(seq, fields(seq, hidden))))
  let reads: unknown[] = []
  const store = watched(inner, async (query) => {
    const rows = await log.read(query)
    reads.push({ ...query, bytes: rows.reduce((sum, { body }) => sum + body.length, 0) })
  })
  const { url, connect, gateway } = await start({ participants, mcp, store })
  const { epoch } = log
  let units: number[] = []
  const charging = vi.spyOn(Rates.prototype, 'charge').mockImplementation((_, rateClass, cost) => {
    if (rateClass === 'work') units.push(cost)
  })
  onTestFinished(() => charging.mockRestore())
  await asking(url, 'eve').get('/turns?thread_id=test/ana') // Resolves once everything is indexed.
  if (inner.path !== undefined) await whenWordsIndexed(inner.path, Math.floor(size / segmentRows))
  const found = []
  for (const path of paths) {
    ;[reads, units] = [[], []]
    if (path === 'a socket') {
      const client = await connect('eve', { query: `after=0&epoch=${epoch}` })
      await client.until(byId(`e${total - 1}`))
    } else {
      const response = await asking(url, 'eve').get(path)
      expect([path, response.status]).toEqual([path, 200])
      if (path.startsWith('/events')) await readUntil(response, `"e${total - 1}"`)
      else await response.text()
    }
    found.push({ path, reads, units: units.toSorted((a, b) => a - b) }) // Concurrent reads end in any order.
  }
  await gateway.close()
  return found
}

async function readUntil({ body }: Response, end: string): Promise<void> {
  let text = ''
  for await (const piece of body ?? []) {
    text += Buffer.from(piece).toString()
    if (text.includes(end)) return
  }
}

const filters = [
  'from=ben',
  'from=ana',
  'kind=chat',
  'kind=x.y',
  'correlationId=e2',
  'correlationId=a1',
  'context=e2',
]
const history = ['/envelopes?limit=50', ...filters.map((filter) => `/envelopes?${filter}`)]
const searches = [
  'text=xxx',
  'text=xxx&from=ben',
  'text=hm&kind=chat',
  'text=hm',
  'text=request+ana',
  'text=never',
].map((query) => `/search?${query}`)
const ofLog = [
  ...['/why/e599', '/why/%23303', '/envelopes/e599', '/envelopes/%23303'],
  ...history.flatMap((path) => [path, `${path.replace('?', '?order=desc&')}`]),
  ...searches,
  ...['/contexts/e2', '/contexts/e2?format=markdown', '/audit/export', '/events?after=0', 'a socket'],
]
const ofTurns = [
  '/turns?thread_id=test/ana',
  '/turns?thread_id=test/ben',
  '/audit',
  '/audit/export?format=markdown',
]

describe('what may not be read costs the same, whatever it is', () => {
  test('where it is large or small', async () => {
    const paths = [...ofLog, ...ofTurns]
    expect(await costs({ ...large, size: 1 }, paths)).toEqual(await costs(large, paths))
  })

  test.for(Object.entries(others))('where there are %s in its place', async ([, hidden]) => {
    expect(await costs(hidden, ofLog)).toEqual(await costs({ ...large, size: 1 }, ofLog))
  })

  test('in a log on disk', async () => {
    const stores = [1, 2].map(() => sqliteStore({ path: temporaryFile('log.db') }))
    const [one, two] = await Promise.all(stores)
    expect(await costs({ ...large, size: 1 }, ofLog, { inner: one })).toEqual(
      await costs(large, ofLog, { inner: two }),
    )
  })

  test.for(Object.entries({ 'longer ones': { ...large, size: 2000 }, ...others }))(
    'where the index of words has %s in its place',
    async ([, hidden]) => {
      const stores = [1, 2].map(() => sqliteStore({ path: temporaryFile('log.db') }))
      const [one, two] = await Promise.all(stores)
      const size = 2 * segmentRows + 10
      const small = { ...hidden, size: Math.min(hidden.size, 2000) }
      expect(await costs(small, searches, { inner: one, size })).toEqual(
        await costs({ ...large, size: 1 }, searches, { inner: two, size }),
      )
    },
  )

  test('where it belongs to a turn that is told without it', async () => {
    const ofRun = { from: 'ben', kind: 'chat', context: 'e2', size: 1 }
    expect(await costs(ofRun, ofTurns)).toEqual(await costs({ ...ofRun, size: 200_000 }, ofTurns))
  })
})
