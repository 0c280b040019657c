import { type LogStore, memoryStore, sqliteStore } from '@meup/gateway'
import { createTestDraft, FakeClock, randomDrafts, testSpaceConfig } from '@meup/gateway/testing'
import { type Envelope, GATEWAY, Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { isSoak, times } from '../../../test/support/soak.js'
import { configurationRecord } from '../src/host/space-host.js'
import { segmentRows } from '../src/index/words/segment.js'
import { range } from './client.js'
import { asking } from './http-client.js'
import { type Asked, type Count, everythingTold, type Fields, type Stand } from './notifications.js'
import { pagesOf, standOn } from './stand.js'
import { start, temporaryFile } from './support.js'
import { whenWordsIndexed } from './words.js'

/**
 * These tests check that unreadable envelopes reveal nothing [MEUP-8.1]. Each response is compared with those of two other
 * logs: one without the unreadable envelopes, with its seqs renumbered, and one with other unreadable envelopes in their
 * places. The first finds leaks of counts and placeholders, the second leaks of contents.
 */

const participants = {
  ana: ['*'],
  ben: ['*'],
  cleo: ['*'],
  dora: ['*'],
  zed: ['*'],
  zoe: ['observe.targeted'],
  // A participant without the right to restrict others, so refusals of others are unreadable for it.
  finn: ['chat'],
}
const readers = ['ana', 'ben', 'cleo', 'dora', 'zoe']
const mcp = { visibility: 'addressees' } as const
const config = testSpaceConfig({ participants, mcp })
/** Kinds that change the visible state of a space for everyone: their occurrence is not secret, whatever their addressees. */
const shared: ReadonlySet<string> = new Set([
  Kind.reasoningConclusion,
  Kind.reasoningCancel,
  Kind.observeVisibility,
])

type Dice = (limit: number) => number

function diceOf(seed: number): Dice {
  let state = seed * 2654435761
  return (limit) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    return (state >>> 8) % limit
  }
}

const pick = <Value>(dice: Dice, values: readonly Value[]): Value => values[dice(values.length)] as Value

/** The configuration record of the test space: with it in the log, a starting gateway does not add one. */
const configured: Fields = {
  id: 'configured',
  ts: '2026-02-21T00:00:00.000Z',
  from: GATEWAY,
  kind: Kind.systemSpace,
  payload: { event: 'configured', ...configurationRecord(config) },
}

/** A log in which many envelopes have addressees, and some runs are hidden for a while. */
function randomLog(seed: number, length: number): Fields[] {
  const dice = diceOf(seed)
  const log = randomDrafts(seed, length).reduce<Fields[]>(
    (log, { body }) => {
      const { protocol, payload: received, ...rest } = JSON.parse(Buffer.from(body).toString()) as Envelope
      const { id, ts, kind, from, context } = rest
      const expiresAt = new Date(Date.parse(ts) + (1 + dice(4)) * 2000).toISOString()
      const expires = kind === Kind.mcpProposal && dice(2) === 0
      const envelope = { ...rest, payload: expires ? { ...received, expiresAt } : received }
      const isPrivate = !kind.startsWith('system.') && !shared.has(kind) && dice(5) < 2
      log.push({ ...envelope, ...(isPrivate && { to: [pick(dice, readers)] }) })
      if (kind === Kind.reasoningStart && context === undefined && dice(4) === 0) {
        const payload = { context: id, reasoningVisible: false }
        log.push({ id: `${id}-hidden`, ts, from, kind: Kind.observeVisibility, payload })
      }
      return log
    },
    [configured],
  )
  // Proposals expire by the time of the head, so the log ends with a public chat, after the gateway's announcements of the
  // expiries.
  const last: Fields = {
    id: 'last',
    ts: '2026-02-22T00:00:00.000Z',
    from: 'dora',
    kind: 'chat',
    payload: { message: 'last' },
  }
  const whole = readableWhole(log)
  const ends = whole
    .filter(({ payload }) => payload.expiresAt !== undefined)
    .map(({ id, from }): Fields => {
      const ended = { what: 'proposal', id }
      const payload = { event: 'update', participant: { id: from }, ended }
      return { id: `${id}-ended`, ts: last.ts, from: GATEWAY, kind: Kind.systemPresence, payload }
    })
  return [...whole, ...ends, last]
}

/**
 * Changes a log so that the readers of an envelope may also read the envelope that it answers, and the start of its context.
 * Otherwise removing unreadable envelopes could move a readable one to another turn: the turn of an envelope depends on the
 * whole log, like its seq.
 */
function readableWhole(log: readonly Fields[]): Fields[] {
  const audiences = new Map<string, readonly string[] | undefined>()
  const before: Fields[] = []
  for (const fields of log) {
    const { correlationId, context, ...rest } = fields
    const { decided = context } = { decided: fields.payload.context as string | undefined }
    const agent = fields.kind === Kind.systemDecision ? fields.to?.[0] : fields.from
    const causes = before.filter((each) => {
      const isInPath = each.from === agent && each.context !== undefined && each.context === decided
      return each.id === correlationId || each.id === decided || isInPath
    })
    const narrow = causes
      .filter(({ kind }) => !shared.has(kind) && kind !== Kind.reasoningThought)
      .flatMap(({ id }) => [audiences.get(id) ?? []].filter(({ length }) => length > 0))
    const [first] = narrow
    const isAlike = first !== undefined && !fields.kind.startsWith('system.') && !shared.has(fields.kind)
    const whole: Fields = isAlike ? { ...fields, to: [...first] } : fields
    const audience = audienceIn(whole, before)
    const isWhole = narrow.every((each) => audience?.every((reader) => each.includes(reader)) === true)
    const loose: Fields =
      fields.kind === Kind.systemDecision
        ? { ...fields, payload: { ...fields.payload, context: undefined } }
        : rest
    const isLoose = !isWhole && !shared.has(fields.kind)
    const said = isLoose ? loose : whole
    audiences.set(said.id, audienceIn(said, before))
    before.push(said)
  }
  return before
}

/** The readers of an envelope; `undefined` = everyone. Ignores that a hidden run withholds its thoughts. */
function audienceIn({ kind, from, to, correlationId }: Fields, before: readonly Fields[]) {
  const isMcp = kind.startsWith('mcp.')
  if (to === undefined && kind !== Kind.mcpResponse) return undefined
  if (isMcp && kind !== Kind.mcpRequest && kind !== Kind.mcpResponse) return undefined
  if (kind === Kind.mcpRequest && to?.every((each) => each === from)) return undefined
  const asked = before.find(({ id }) => id === correlationId)
  const asks =
    asked !== undefined && asked.kind === (kind === Kind.mcpRequest ? Kind.mcpProposal : Kind.mcpRequest)
  if (kind === Kind.mcpResponse && asked?.to?.every((each) => each === asked.from)) return undefined
  return [...new Set([...(to ?? []), from, ...(isMcp && asks ? [asked.from] : [])])]
}

async function fill(store: LogStore, log: readonly Fields[]): Promise<LogStore> {
  await (await store.open('test')).append(log.map((fields, index) => createTestDraft(index + 1, fields)))
  return store
}

/** A gateway on the log in memory and without sockets, because many logs are compared. */
const inMemory = async (log: readonly Fields[]): Promise<Stand> =>
  standOn(await fill(memoryStore(), log), { participants, mcp })

/** A gateway as in production: with SQLite, HTTP and sockets. */
async function inEarnest(log: readonly Fields[]): Promise<Stand> {
  const store = await fill(await sqliteStore({ path: temporaryFile('log.db') }), log)
  const clock = new FakeClock(Date.UTC(2026, 5, 1))
  const { gateway, url } = await start({ participants, mcp, store, clock })
  return { gateway, get: (reader, path, headers) => asking(url, reader).get(path, headers) }
}

function randomQuery(dice: Dice, log: readonly Fields[]): Asked & { readonly order: 'asc' | 'desc' } {
  const some = <Value>(part: readonly Value[]): Value[] => part.filter(() => dice(3) === 0)
  const kinds = some([...new Set(log.map(({ kind }) => kind))])
  const from = some(readers)
  const order = pick(dice, ['asc', 'desc'] as const)
  const parts = [
    `limit=${1 + dice(4)}&order=${order}`,
    dice(2) === 0 && kinds.length > 0 && `kind=${kinds}`,
    dice(2) === 0 && from.length > 0 && `from=${from}`,
    dice(4) === 0 && `context=${pick(dice, log).id}`,
    dice(4) === 0 && `correlationId=${pick(dice, log).id}`,
    dice(3) === 0 && `reasoning=${pick(dice, ['full', 'boundaries', 'none'])}`,
  ]
  return {
    order,
    ...(dice(3) === 0 && { after: dice(log.length + 1) }),
    ...(dice(3) === 0 && { before: 1 + dice(log.length + 1) }),
    rest: parts.filter((part) => part !== false).join('&'),
  }
}

async function compare(seed: number, open: (log: readonly Fields[]) => Promise<Stand>, length = 40) {
  const reader = pick(diceOf(seed + 1), readers)
  await compareLog(randomLog(seed, length), { seed, reader, open })
}

interface Compared {
  readonly seed: number
  readonly reader: string
  readonly open: (log: readonly Fields[]) => Promise<Stand>
  readonly leastLimit?: number
}

async function compareLog(log: readonly Fields[], { seed, reader, open, leastLimit = 1 }: Compared) {
  const dice = diceOf(seed + 2)
  const real = await open(log)
  const lines = (await (await real.get(reader, '/audit/export')).text()).split('\n').slice(1, -2)
  const isReadable = lines.map((line) => line.includes('"body":'))
  const without = log.filter((_, index) => isReadable[index])
  const other = log.map((fields, index): Fields => {
    if (isReadable[index]) return fields
    const { ts } = fields
    return { id: `other${index}`, ts, from: 'zed', kind: 'x.other', to: ['zed'], payload: {} }
  })
  // Number of unreadable envelopes up to this seq; envelopes after the log are readable by everyone.
  const gone = (seq: number): number => isReadable.slice(0, seq).filter((is) => !is).length
  const asked = range(1, 12).map(() => randomQuery(dice, log))
  const same: Count = (seq) => seq
  const fewer: Count = (seq) => seq - gone(seq)
  const notify = async (of: readonly Fields[], count: Count, own: Count) =>
    everythingTold(await open(of), { reader, log, asked, leastLimit }, count, own)
  const pairs = [
    {
      how: 'removed',
      received: await notify(log, same, fewer),
      expected: await notify(without, fewer, same),
    },
  ]
  // Zoe may read addressed envelopes, also those that would replace unreadable ones, so nothing is replaced for her.
  if (reader !== 'zoe') {
    pairs.push({
      how: 'replaced',
      received: await notify(log, same, same),
      expected: await notify(other, same, same),
    })
  }
  for (const { how, received, expected } of pairs) {
    for (const [at, answer] of received.entries()) {
      expect([seed, reader, how, answer]).toEqual([seed, reader, how, expected[at]])
    }
  }
}

describe('what may not be read tells nothing', () => {
  const [logs, parts] = [times(1, 2000), times(1, 10)]
  test.for(range(1, parts))(`in random logs, part %i of ${parts}`, { timeout: 3_600_000 }, async (part) => {
    for (let seed = part; seed <= logs; seed += parts) await compare(seed, inMemory)
  })

  test.for([324, 1167, 1569])(
    'where a turn takes up a free path with what is hidden (log %i)',
    async (seed) => {
      await compare(seed, inMemory)
    },
  )

  test.for(range(1, times(2, 400)))(
    'to who may restrict others, and to who may not (log %i)',
    async (seed) => {
      const log = randomLog(seed, 40).map((fields, at): Fields => {
        if (fields.kind !== Kind.systemDecision || at % 3 === 0) return fields
        const payload = { ...fields.payload, context: undefined }
        return { ...fields, to: [...(fields.to ?? []), GATEWAY], payload }
      })
      const isRefusal = ({ kind, to }: Fields) =>
        kind === Kind.systemDecision && to?.includes(GATEWAY) === true
      const refusals = log.filter(isRefusal)
      for (const [reader, reads] of [
        ['ana', true],
        ['finn', false],
      ] as const) {
        const real = await inMemory(log)
        const { envelopes } = (await (
          await real.get(reader, '/envelopes?kind=system.decision&limit=1000')
        ).json()) as {
          envelopes: Fields[]
        }
        const read = envelopes.filter(isRefusal)
        expect([seed, reader, read.length]).toEqual([seed, reader, reads ? refusals.length : 0])
        await compareLog(log, { seed, reader, open: inMemory })
      }
    },
  )

  // Only in the nightly run, because it is slow: turns of more than 1,000 envelopes are read in parts, so the job has 1,100.
  if (isSoak) {
    test('where a long job takes up a free path with a decision that is hidden', async () => {
      const at = (seq: number): string => new Date(Date.UTC(2026, 1, 21) + seq * 1000).toISOString()
      const refusal = { decision: 'denied', reasonCode: 'forbidden', message: 'no', count: 1 }
      const payload = { ...refusal, attemptedKind: Kind.mcpRequest, context: 'free' }
      const log: Fields[] = [
        configured,
        { id: 'no', ts: at(1), from: GATEWAY, kind: Kind.systemDecision, to: ['cleo'], payload },
        ...range(1, 1100).map((each) => ({
          ...{ id: `t${each}`, ts: at(1 + each), from: 'cleo', kind: Kind.reasoningThought, context: 'free' },
          payload: { message: `${each}` },
        })),
      ]
      await compareLog(log, { seed: 1, reader: 'ben', open: inMemory, leastLimit: 500 })
    })
  }

  test('where one answer ends two calls of which one is hidden', async () => {
    const at = (seq: number): string => new Date(Date.UTC(2026, 1, 21) + seq * 1000).toISOString()
    const call = (id: string, seq: number, to: string): Fields => ({
      ...{ id, ts: at(seq), from: 'cleo', kind: Kind.mcpRequest, to: [to], context: 'run' },
      payload: { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'look', arguments: {} } },
    })
    const log: Fields[] = [
      configured,
      { id: 'run', ts: at(1), from: 'cleo', kind: Kind.reasoningStart, payload: { message: 'Look' } },
      {
        ...{ id: 'note', ts: at(2), from: 'cleo', kind: Kind.chat, to: ['zed'] },
        context: 'run',
        payload: { message: 'hm' },
      },
      call('c1', 3, 'zed'),
      call('c2', 4, 'ben'),
      {
        ...{ id: 'r', ts: at(5), from: 'ben', kind: Kind.mcpResponse, to: ['cleo', 'ben'] },
        ...{
          correlationId: ['c2', 'note', 'c1'],
          payload: { jsonrpc: '2.0', id: 1, result: { content: [] } },
        },
      },
      {
        id: 't',
        ts: at(6),
        from: 'cleo',
        kind: Kind.reasoningThought,
        context: 'run',
        payload: { message: 'so' },
      },
    ]
    await compareLog(log, { seed: 1, reader: 'ben', open: inMemory })
  })

  test('in a log on disk, over HTTP and sockets', async () => {
    await compare(2001, inEarnest)
  })

  test('in a log of which no request sees all', async () => {
    const [total, dice] = [25_000, diceOf(7)]
    const shown = new Set(range(1, 60).map(() => 1 + dice(total)))
    const logOf = (hidden: (seq: number) => Pick<Fields, 'from' | 'kind'> & Partial<Fields>): Fields[] =>
      range(1, total).map((seq) => {
        if (seq === total) return configured
        const fields = { id: `e${seq}`, ts: '2026-02-21T00:00:00.000Z', payload: {} }
        if (shown.has(seq)) return { ...fields, from: 'ana', kind: 'x.rare', context: 'c' }
        return { ...fields, to: ['zed'], ...hidden(seq) }
      })
    const one = await inMemory(
      logOf((seq) => ({ from: 'ana', kind: 'x.rare', context: seq % 3 ? 'c' : 'd' })),
    )
    const two = await inMemory(logOf(() => ({ from: 'zed', kind: 'x.other' })))
    for (const filter of [
      'kind=x.rare',
      'context=c',
      'from=ana',
      'from=zed',
      'kind=x.other',
      'reasoning=none',
    ]) {
      for (const order of ['asc', 'desc']) {
        let place = ''
        for (let page = 0; page < 40; page++) {
          const path = `/envelopes?limit=7&${filter}&order=${order}${place}`
          const answers = await Promise.all(
            [one, two].map(async ({ get }) => (await get('ben', path)).json()),
          )
          const [answer, other] = answers.map((each) => ({ ...(each as { next?: number }), epoch: '' }))
          expect([path, answer]).toEqual([path, other])
          if (answer?.next === undefined) break
          place = order === 'asc' ? `&after=${answer.next}` : `&before=${answer.next}`
        }
      }
    }
  })

  test('in searches of a log whose words are indexed', async () => {
    const segments = times(1, 2)
    const total = segments * segmentRows + 50
    const message = (seq: number): string => (seq % 500 === 3 ? 'a needle' : `hay ${seq % 90}`)
    const logOf = (hidden: (seq: number) => Partial<Fields>): Fields[] =>
      range(1, total).map((seq) => {
        if (seq === 1) return configured
        const said = { id: `e${seq}`, ts: new Date(Date.UTC(2026, 1, 21) + seq * 1000).toISOString() }
        const fields = { ...said, from: 'ana', kind: 'chat', payload: { message: message(seq) } }
        return seq % 7 === 0 ? { ...fields, to: ['zed'], ...hidden(seq) } : fields
      })
    const open = async (log: readonly Fields[]): Promise<Pick<Stand, 'get'>> => {
      const path = temporaryFile('log.db')
      const { url } = await start({ participants, mcp, store: await fill(await sqliteStore({ path }), log) })
      await whenWordsIndexed(path, segments)
      return { get: (reader, path, headers) => asking(url, reader).get(path, headers) }
    }
    const one = await open(logOf(() => ({ payload: { message: 'a needle in the hay' } })))
    const two = await open(logOf((seq) => ({ from: 'zed', kind: 'x.other', payload: { seq } })))
    for (const query of [
      'text=needle',
      'text=hay+41',
      'text=needle+hay',
      'text=zed',
      'text=a',
      'text=x.other',
    ]) {
      // Queries with many hits are slow in pages of one hit, so only the nightly run requests these for every query.
      for (const limit of isSoak || query === 'text=needle' ? [1, 7] : [7]) {
        const path = `/search?${query}&limit=${limit}`
        const [found, other] = [await pagesOf(one, 'ben', path), await pagesOf(two, 'ben', path)]
        expect([path, found]).toEqual([path, other])
        if (query === 'text=needle') expect(found.length).toBeGreaterThan(0)
      }
    }
  })

  type Seq = { readonly seq: number }

  test('in the audit of a log of which no request sees all', async () => {
    const total = 12_000
    const at = (seq: number): string => new Date(Date.UTC(2026, 1, 21) + seq * 1000).toISOString()
    const denied = { decision: 'denied', reasonCode: 'forbidden', message: 'no', count: 1 }
    const logOf = (hidden: Pick<Fields, 'from' | 'kind' | 'payload'>): Fields[] =>
      range(1, total).map((seq) => {
        const fields = { id: `e${seq}`, ts: at(seq) }
        if (seq === total) return { ...configured, ts: at(seq) }
        if (seq % 3000 === 1) {
          return { ...fields, from: GATEWAY, kind: Kind.systemDecision, to: ['ben'], payload: denied }
        }
        if (seq % 100 === 0) return { ...fields, ...hidden, to: ['zed'] }
        return { ...fields, from: 'ana', kind: 'chat', payload: { message: 'hm' } }
      })
    const stands = [
      await inMemory(logOf({ from: GATEWAY, kind: Kind.systemDecision, payload: denied })),
      await inMemory(logOf({ from: 'zed', kind: 'x.other', payload: {} })),
    ]
    const queries = [
      'limit=1',
      'limit=1&phase=waiting_approval',
      'limit=2&from=ben',
      `until=${at(11_250)}`,
      `until=${at(11_250)}&limit=1`,
      `since=${at(1250)}&before=11222`,
      `since=${at(1250)}&before=11290`,
    ]
    for (const query of queries) {
      const answers = await Promise.all(
        stands.map(async ({ get }) => {
          const audit = (await (await get('ben', `/audit?${query}`)).json()) as Record<string, unknown>
          const { steps, decisions, ...more } = audit as { steps: Seq[]; decisions: Seq[] }
          return { ...more, steps: steps.map(({ seq }) => seq), decisions: decisions.map(({ seq }) => seq) }
        }),
      )
      expect([query, answers[0]]).toEqual([query, answers[1]])
    }
  })
})
