import { LogError, memoryStore, sqliteStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { fillIn } from '@meup/protocol/error-texts'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { texts } from '../src/core/refusal-texts.js'
import { byId, range } from './client.js'
import type { EventReader } from './http-client.js'
import { heldStore } from './indexing.js'
import { lastIdOf, rawEvents, story } from './reasoning-story.js'
import { temporaryFile } from './support.js'
import { begin, call, chat, result, stage, twoCalls } from './turns.js'

const kindsOf = (events: readonly { event: string }[]): string[] => events.map(({ event }) => event)
const until = (stream: EventReader, id: string) => stream.until(({ data }) => data.includes(`"id":"${id}"`))

describe('a feed, while the index has not what was said', () => {
  test.for([
    ['little', 10, 0],
    ['more than may wait', 200_000, 1],
  ] as const)(
    'waits, and nobody else does; then it gets all of it in its place: %s',
    async ([, size, fewest]) => {
      const { store, reads, hold, release } = heldStore()
      const staged = await stage({ store, eventHeartbeatMs: 5 })
      const { say, as, connect, gateway } = staged
      const socket = await connect('stranger')
      const stream = await as('stranger').events()
      hold()
      await say(...twoCalls('a'))
      for (const count of range(1, 30)) await say(['ana', chat(`m${count}`, 'x'.repeat(size))])
      expect((await socket.until(byId('m30'))).length).toBeGreaterThan(35)
      for (let beat = 0; beat < 3; beat++) await stream.comment()
      expect([stream.all, gateway.report()]).toMatchObject([[], [{ unsentBytes: 0 }]])

      reads.length = 0
      release()
      const events = await until(stream, 'm30')
      const first = socket.frames.find(({ id }) => id === 'a-ask')?.seq ?? 0
      const envelopes = events.filter(({ event }) => event === 'envelope')
      expect(envelopes.map(({ data }) => (JSON.parse(data) as { seq: number }).seq)).toEqual(
        range(first, first + envelopes.length - 1),
      )
      expect(kindsOf(events).slice(0, 8)).toEqual([
        ...['envelope', 'envelope', 'envelope', 'envelope', 'envelope', 'reasoning_update'],
        ...['envelope', 'envelope'],
      ])
      expect(kindsOf(events).filter((kind) => kind === 'reasoning_update')).toHaveLength(2)
      expect(Math.min(reads.length, 1)).toBe(fewest)

      await say(...twoCalls('b'))
      expect(kindsOf(await until(stream, 'b-done')).filter((kind) => kind !== 'envelope')).toHaveLength(2)
    },
  )

  test('gets deltas after what was said before them [MEUP-3.25]', async () => {
    const { store, hold, release } = heldStore()
    const { say, as, connect } = await stage({ store })
    const ben = await connect('ben')
    const socket = await connect('stranger')
    const stream = await as('stranger').events()
    hold()
    await say(['ana', chat('ask', 'please do')])
    const payload = { index: 0, text: 'on it' }
    await ben.next(byId('ask'))
    ben.send({ id: 'delta', kind: 'chat.delta', correlationId: 'ask', payload })
    await socket.next(byId('delta'))
    await say(['ben', chat('done', 'done', { correlationId: 'ask' })])
    expect(stream.all).toEqual([])
    release()
    const events = await until(stream, 'done')
    expect(events.map(({ data }) => (JSON.parse(data) as { id: string }).id)).toEqual([
      'ask',
      'delta',
      'done',
    ])
  })

  test('goes on when what failed is mended; who asks for turns meanwhile is told to come back', async () => {
    const { store, fail } = heldStore()
    const clock = new FakeClock()
    const { say, as } = await stage({ store, clock, eventHeartbeatMs: 5 })
    const stream = await as('stranger').events()
    fail(new LogError('io', 'the disk is full', {}))
    await say(...twoCalls('a'))
    for (const path of ['/turns?thread_id=test/ben', '/audit', '/audit/export?format=markdown']) {
      const response = await as('ana').get(path)
      expect([path, response.status, await response.json()]).toMatchObject([
        path,
        503,
        { code: 'unavailable' },
      ])
    }
    await stream.comment()
    expect(stream.all).toEqual([])
    fail(undefined)
    clock.advance(60_000)
    const events = await until(stream, 'a-done')
    expect(kindsOf(events).filter((kind) => kind === 'reasoning_update')).toHaveLength(2)
    expect(await as('ana').json('/turns?thread_id=test/ben')).toMatchObject({ turns: [{ turn_number: 1 }] })
  })

  test('does not make anybody who asks for turns wait for ever', async () => {
    const { store, hold } = heldStore()
    const clock = new FakeClock()
    const { say, as } = await stage({ store, clock })
    hold()
    await say(...twoCalls('a'))
    let response: Response | undefined
    void as('ana')
      .get('/turns?thread_id=test/ben')
      .then((answer) => {
        response = answer
      })
    await expect
      .poll(() => {
        clock.advance(1000)
        return response?.status
      })
      .toBe(503)
    expect(response?.headers.get('retry-after')).toBe('2')
    expect(await response?.json()).toMatchObject({
      detail: fillIn(texts.unindexedTurns, { seq: 2, head: 12 }),
    })
  })

  test('that resumes gets first what was left of its place, then the rest', async () => {
    const { store, hold, release } = heldStore()
    const { say, url } = await stage({ store })
    await say(...story)
    const all = await rawEvents(url, 'ben', { query: 'after=0' })
    const cut = all.findIndex((block) => /^id: \d+\.0$/m.test(block)) + 1
    hold()
    await say(['ana', chat('more', 'and more')])
    const rest = rawEvents(url, 'ben', { lastId: lastIdOf(all.slice(0, cut)), until: 'more' })
    release()
    expect((await rest).slice(0, -1)).toEqual(all.slice(cut))
  })
})

verifies('I37', 'a reader of events that takes nothing delays no turn and no other reader', async () => {
  const { say, as, connect, gateway } = await stage({ limits: { sendBufferBytes: 64 * 1024 } })
  const neglected = await as('stranger').events()
  const [socket, reader] = [await connect('cleo'), await as('auditor').events()]
  const long = 'x'.repeat(200_000)
  for (const count of range(1, 40)) {
    await say(
      ['ana', chat(`ask${count}`, long)],
      [
        'ben',
        begin(`run${count}`, `ask${count}`, 'begin'),
        call(`call${count}`, `run${count}`, 'look', 'to see'),
      ],
      ['tool', result(`call${count}`, long)],
      ['ben', chat(`is${count}`, 'so', { correlationId: `ask${count}` })],
    )
    await socket.next(byId(`is${count}`))
    const events = await until(reader, `is${count}`)
    expect(kindsOf(events).filter((kind) => kind === 'reasoning_update')).toEqual(['reasoning_update'])
  }
  expect(gateway.report()).toMatchObject([{ metrics: { slowCloses: 1 } }])
  expect(neglected.all).toEqual([])
})

test.for(['memory', 'SQLite'] as const)(
  'after a restart a stream goes on with the same bytes, though nothing more is said: %s',
  async (kind) => {
    const [spaces, path] = [new Map(), temporaryFile('log.db')]
    const open = async () =>
      stage({ store: kind === 'memory' ? memoryStore(spaces) : await sqliteStore({ path }) })
    const first = await open()
    await first.say(...story)
    const all = await rawEvents(first.url, 'auditor', { query: 'after=0' })
    await first.close()
    const again = await open()
    expect(await rawEvents(again.url, 'auditor', { query: 'after=0' })).toEqual(all)
    const at = all.findIndex((block) => /^id: \d+\.1$/m.test(block)) + 1
    expect(await rawEvents(again.url, 'auditor', { lastId: lastIdOf(all.slice(0, at)) })).toEqual(
      all.slice(at),
    )
  },
)
