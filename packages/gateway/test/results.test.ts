import { type EnvelopeLog, type LogStore, memoryStore, sqliteStore } from '@meup/gateway'
import { FakeClock, testSpaceConfig } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { byId, type Client, errorFor, type Sent } from './client.js'
import { asking } from './http-client.js'
import { start, temporaryFile } from './support.js'

const participants = { caller: ['*'], tool: ['chat', 'mcp.response'], reader: ['chat'] }
const mebibyte = 1024 * 1024
const plenty = testSpaceConfig({ participants }).limits.rates
const call: Sent = { id: 'call', kind: 'mcp.request', to: ['tool'], payload: { method: 'tools/call' } }
const response = (bytes: number, more: object = {}): Sent => ({
  id: 'answer',
  kind: 'mcp.response',
  to: ['caller'],
  correlationId: 'call',
  payload: { result: { content: [{ type: 'image', data: 'iVBO'.repeat(bytes / 4) }] } },
  ...more,
})

/** A store that calls `found` with each row that is looked up by its id. */
function reading(inner: LogStore, found: (row: ReturnType<EnvelopeLog['find']>) => void): LogStore {
  return {
    async open(space) {
      const log = await inner.open(space)
      const find: EnvelopeLog['find'] = (id) => {
        const row = log.find(id)
        found(row)
        return row
      }
      return Object.assign(Object.create(log) as EnvelopeLog, { find })
    },
    close: () => inner.close(),
  }
}

describe('a response of 3 MB', () => {
  test('goes from a socket through the log to sockets, history and events, and again after a restart', async () => {
    const path = temporaryFile('log.sqlite')
    const sent = response(3 * mebibyte)
    const first = await start({ participants, store: await sqliteStore({ path }) })
    const [caller, tool, reader] = await Promise.all(
      ['caller', 'tool', 'reader'].map((id) => first.connect(id)),
    )
    if (!caller || !tool || !reader) throw new Error('nobody is there')
    const live = await asking(first.url, 'reader').events()
    await caller.accepted(call)
    await tool.accepted(sent)
    for (const client of [caller, reader])
      expect((await client.next(byId('answer'))).payload).toEqual(sent.payload)
    const event = await live.until(({ data }) => data.includes('"id":"answer"'))
    expect(JSON.parse(event.at(-1)?.data ?? '').payload).toEqual(sent.payload)
    await first.close()

    const { url, connect } = await start({ participants, store: await sqliteStore({ path }) })
    const { get, history, lines, events } = asking(url, 'reader')
    const again = await connect('reader', { query: 'after=0' })
    expect((await again.next(byId('answer'))).payload).toEqual(sent.payload)
    const page = await history('kind=mcp.response')
    expect(page.envelopes.map(({ payload }) => payload)).toEqual([sent.payload])
    expect(await lines('kind=mcp.response')).toHaveLength(1)
    const replayed = await (await events('after=0')).until(({ data }) => data.includes('"id":"answer"'))
    expect(JSON.parse(replayed.at(-1)?.data ?? '').payload).toEqual(sent.payload)
    expect((await get('/turns?thread_id=test/tool')).status).toBe(200)
    expect((await get('/audit/verify')).status).toBe(200)
  })

  test('is not read again for an answer to it, or another envelope under its id', async () => {
    let bytes = 0
    const store = reading(memoryStore(), (row) => {
      bytes += row?.body.length ?? 0
    })
    const { connect } = await start({ participants, store })
    const [caller, tool] = [await connect('caller'), await connect('tool')]
    await caller.accepted(call)
    await tool.accepted(response(3 * mebibyte))
    const answers = Array.from({ length: 16 }, () => 'answer')
    await caller.accepted({ ...call, id: 'next', correlationId: answers })
    expect(await caller.refused({ ...call, id: 'answer' })).toMatchObject({ code: 'duplicate_id' })
    expect(bytes).toBeLessThan(mebibyte)
  })

  test('costs work where its sender sends another under its id', async () => {
    const clock = new FakeClock()
    const rates = { tool: { work: { perSecond: 1000, burst: 3500 } } }
    const store = await sqliteStore({ path: temporaryFile('log.sqlite') })
    const { connect, post } = await start({ participants, store, clock, rates })
    await (await connect('caller')).accepted(call)
    expect(await post('tool', response(3 * mebibyte))).toMatchObject({ status: 201 })
    const other = { id: 'answer', kind: 'chat', payload: { message: 'hello' } }
    expect(await post('tool', other)).toMatchObject({ status: 409 })
    expect(await post('tool', other)).toMatchObject({ status: 409 })
    expect(await post('tool', other)).toMatchObject({ status: 429, body: { class: 'work' } })
  })

  test('may be posted, alone', async () => {
    const { connect, post } = await start({ participants })
    const caller = await connect('caller')
    await caller.accepted(call)
    expect(await post('tool', response(3 * mebibyte))).toMatchObject({ status: 201 })
    expect((await caller.next(byId('answer'))).kind).toBe('mcp.response')
  })
})

describe('what is larger than an envelope', () => {
  const enter = async (limits: Parameters<typeof start>[0]['limits'] = {}) => {
    const { connect, gateway, post } = await start({ participants, limits })
    return { caller: await connect('caller'), tool: await connect('tool'), gateway, post }
  }
  const refusalOf = async (client: Client, sent: Sent) => {
    client.send(sent)
    return (await client.next(errorFor(sent.id))).payload
  }

  test('is refused where it is no response, and its sender knows which it was', async () => {
    const { tool } = await enter()
    expect(await refusalOf(tool, response(mebibyte, { kind: 'mcp.request' }))).toMatchObject({
      code: 'payload_too_large',
      message: expect.stringContaining('262144'),
    })
  })

  test('is refused where nobody asked for it', async () => {
    const { tool } = await enter()
    expect(await refusalOf(tool, response(4 * mebibyte - 1024))).toMatchObject({ code: 'not_found' })
  })

  test('is refused where it is a response only by the looks of it', async () => {
    const { caller, tool } = await enter()
    await caller.accepted(call)
    const text = JSON.stringify(response(mebibyte))
    tool.send(text.replace('"kind"', '"kind":"chat","kind"'))
    expect((await tool.next(({ kind }) => kind === 'system.error')).payload).toMatchObject({
      code: 'payload_too_large',
    })
    tool.send(text.replace('{', '{"payload":{},'))
    expect((await tool.next(({ kind }) => kind === 'system.error')).payload).toMatchObject({
      code: 'invalid_json',
    })
  })

  test('is the sum of its bytes in `results`, whatever becomes of it, and none in `bytes`', async () => {
    const clock = new FakeClock()
    const bytes = { perSecond: 1, burst: 5000 }
    const results = { perSecond: mebibyte, burst: mebibyte }
    const { connect } = await start({ participants, clock, limits: { rates: { ...plenty, bytes, results } } })
    const [tool, reader] = [await connect('tool'), await connect('reader')]
    for (const id of ['once', 'again']) {
      expect(await refusalOf(tool, response(mebibyte, { id }))).toMatchObject({ code: 'not_found' })
      tool.send({ id: `after-${id}`, kind: 'chat', payload: { message: 'held' } })
      for (const _ of [1, 2, 3]) await reader.accepted({ kind: 'chat', payload: { message: 'meanwhile' } })
      expect(reader.frames.filter(byId(`after-${id}`))).toEqual([])
      clock.advance(2000)
      await tool.next(byId(`after-${id}`))
    }
  })

  test('in a body of many envelopes has the bounds of bytes', async () => {
    const { post } = await enter({
      rates: { ...plenty, bytes: { perSecond: mebibyte, burst: 2 * mebibyte } },
    })
    const envelopes = Array.from({ length: 20 }, () => ({
      kind: 'chat',
      payload: { message: 'x'.repeat(200_000) },
    }))
    expect((await post('tool', envelopes)).status).toBe(413)
  })
})
