import { type EnvelopeLog, memoryStore } from '@meup/gateway'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { byId, range, type Sent, said, seqs } from './client.js'
import { type Running, start } from './support.js'

const participants = {
  alice: ['*'],
  bob: ['*'],
  carol: ['*'],
  auditor: ['observe.targeted', 'chat'],
}
const chat = (message: string): Sent => ({ kind: 'chat', payload: { message } })
const request: Sent = { kind: 'mcp.request', payload: { jsonrpc: '2.0', id: 1, method: 'tools/list' } }

describe('order', () => {
  test('is one for all: gapless, the same at every client, and the sender’s own order', async () => {
    const { connect } = await start({ participants: { ...participants, dave: ['*'] } })
    const clients = await Promise.all(['alice', 'bob', 'carol', 'dave', 'alice'].map((id) => connect(id)))
    const each = 200
    clients.forEach((client, at) => {
      for (let count = 0; count < each; count++) client.send({ id: `c${at}-${count}`, ...chat(`${count}`) })
    })
    const total = each * clients.length
    const heard = await Promise.all(
      clients.map(async (client) => {
        let left = total
        const frames = await client.until(({ kind }) => kind === 'chat' && --left === 0)
        return frames.filter(({ kind }) => kind === 'chat')
      }),
    )
    const [first = []] = heard
    expect(first).toHaveLength(total)
    const from = first[0]?.seq ?? 0
    expect(seqs(first)).toEqual(range(from, from + first.length - 1))
    for (const other of heard) expect(other).toEqual(first)
    clients.forEach((_, at) => {
      const own = said(first).filter((id) => id.startsWith(`c${at}-`))
      expect(own).toEqual(range(0, each - 1).map((count) => `c${at}-${count}`))
    })
  })
})

/** The participants that receive an envelope from this sender; the sender itself over its second connection. */
async function reach({ connect }: Running, sent: Sent, from = 'alice'): Promise<string[]> {
  const sender = await connect(from)
  const readers = await Promise.all(Object.keys(participants).map((id) => connect(id)))
  const { id } = await sender.accepted(sent)
  const mark = await sender.accepted(chat('mark'))
  const reached: string[] = []
  for (const reader of readers) {
    if ((await reader.until(byId(mark.id))).some(byId(id))) reached.push(reader.participant)
  }
  await Promise.all([sender, ...readers].map((client) => client.close()))
  return reached.sort()
}

const everyone = ['alice', 'auditor', 'bob', 'carol']

describe('who gets it', () => {
  test('without addressees everyone, and every connection of the sender', async () => {
    const { connect } = await start({ participants })
    const [alice, again, bob] = [await connect('alice'), await connect('alice'), await connect('bob')]
    const sent = await alice.accepted(chat('hello'))
    expect(await again.next(byId(sent.id))).toEqual(sent)
    expect(await bob.next(byId(sent.id))).toEqual(sent)
    const running = await start({ participants })
    expect(await reach(running, chat('hello'))).toEqual(everyone)
    expect(await reach(running, { ...chat('hello'), to: [] })).toEqual(everyone)
  })

  test('with addressees they, the sender, and who may read what is targeted; a glob gives nobody that', async () => {
    const running = await start({ participants })
    expect(await reach(running, { ...chat('psst'), to: ['bob'] })).toEqual(['alice', 'auditor', 'bob'])
    expect(await reach(running, { ...chat('note to self'), to: ['alice'] })).toEqual(['alice', 'auditor'])
    expect(await reach(running, { ...chat('x'), to: ['bob', 'carol'] }, 'bob')).toEqual([
      'auditor',
      'bob',
      'carol',
    ])
    expect(await reach(running, { kind: 'x.y', to: ['bob'] })).toEqual(['alice', 'auditor', 'bob'])
    expect(await reach(running, { kind: 'participant.status', to: ['bob'] })).toEqual([
      'alice',
      'auditor',
      'bob',
    ])
  })

  test('the other connection of a sender gets its targeted envelopes too', async () => {
    const { connect } = await start({ participants })
    const [alice, again, bob] = [await connect('alice'), await connect('alice'), await connect('bob')]
    const { id } = await alice.accepted({ ...chat('psst'), to: ['bob'] })
    for (const client of [again, bob]) expect(await client.next(byId(id))).toMatchObject({ to: ['bob'] })
  })

  test('mcp reaches everyone: its addressees are who must act', async () => {
    const running = await start({ participants })
    expect(await reach(running, { ...request, to: ['bob'] })).toEqual(everyone)
    const proposal = { kind: 'mcp.proposal', to: ['bob'], payload: { method: 'tools/call' } }
    expect(await reach(running, proposal)).toEqual(everyone)
  })

  test('with mcp.visibility addressees a request and its response are theirs and the asker’s', async () => {
    const running = await start({ participants, mcp: { visibility: 'addressees' } })
    const ask = { id: 'ask', ...request, to: ['bob'] }
    expect(await reach(running, ask)).toEqual(['alice', 'auditor', 'bob'])
    const answer = { kind: 'mcp.response', correlationId: 'ask', payload: { result: {} } }
    expect(await reach(running, answer, 'bob')).toEqual(['alice', 'auditor', 'bob'])
    expect(await reach(running, request)).toEqual(everyone)

    const proposal = { ...request, id: 'plan', kind: 'mcp.proposal', to: ['bob'] }
    expect(await reach(running, proposal, 'carol')).toEqual(everyone)
    const fulfilment = { ...request, id: 'done', to: ['bob'], correlationId: 'plan' }
    expect(await reach(running, fulfilment)).toEqual(everyone)
    // Carol proposed the call that alice's request fulfils, so carol gets the response as well.
    expect(await reach(running, { ...answer, correlationId: 'done' }, 'bob')).toEqual(everyone)
  })

  test('with mcp.visibility addressees, what is said of a call goes to its caller, and what one asks itself to everyone', async () => {
    const running = await start({ participants, mcp: { visibility: 'addressees' } })
    await reach(running, { id: 'ask', ...request, to: ['bob'] })
    const said = { kind: 'mcp.request', correlationId: 'ask', to: ['alice'] }
    for (const method of ['notifications/progress', 'notifications/message']) {
      const heard = await reach(running, { ...said, payload: { jsonrpc: '2.0', method } }, 'bob')
      expect(heard).toEqual(['alice', 'auditor', 'bob'])
    }
    expect(await reach(running, { id: 'own', ...request, to: ['alice'] })).toEqual(everyone)
    const answer = { kind: 'mcp.response', payload: { result: {} } }
    await reach(running, { id: 'both', ...request, to: ['alice'] }, 'bob')
    expect(await reach(running, { ...answer, correlationId: ['own', 'both'] })).toEqual([
      'alice',
      'auditor',
      'bob',
    ])
    await reach(running, { id: 'more', ...request, to: ['alice'] })
    expect(await reach(running, { ...answer, correlationId: 'more' })).toEqual(everyone)
  })

  test('with mcp.visibility addressees it takes few look-ups to find out whose answer it is', async () => {
    let lookups = 0
    const store = memoryStore()
    const log = await store.open('test')
    const heading: EnvelopeLog['heading'] = (id) => {
      lookups++
      return log.heading(id)
    }
    const counting = {
      ...store,
      open: async () => Object.assign(Object.create(log) as EnvelopeLog, { heading }),
    }
    const { connect } = await start({ participants, mcp: { visibility: 'addressees' }, store: counting })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    const many = <Item>(item: Item) => range(1, 16).map(() => item)
    const plan = { ...request, id: 'plan', kind: 'mcp.proposal', to: ['bob'], correlationId: many('x') }
    await alice.accepted({ ...plan, payload: { method: 'tools/list', uses: 100 } })
    const asks = range(1, 16).map((count) => `ask${count}`)
    const payload = { id: 1, method: 'tools/list' }
    for (const id of asks) {
      await alice.accepted({ kind: 'mcp.request', id, to: ['bob'], correlationId: many('plan'), payload })
    }
    lookups = 0
    await bob.accepted({ kind: 'mcp.response', correlationId: asks, payload: { result: {} } })
    expect(lookups).toBeLessThan(100)
  })

  test('with mcp.visibility addressees, the author of a chat that a request refers to does not get the request', async () => {
    const running = await start({ participants, mcp: { visibility: 'addressees' } })
    await reach(running, { id: 'wish', ...chat('please') }, 'carol')
    const ask = { ...request, to: ['bob'], correlationId: 'wish' }
    expect(await reach(running, ask)).toEqual(['alice', 'auditor', 'bob'])
  })

  verifies('M21', 'reasoning goes where chat goes: there is no rule of its own for it', async () => {
    const running = await start({ participants })
    for (const to of [undefined, ['bob'], ['bob', 'carol'], ['alice']]) {
      const addressed = { ...(to && { to }), context: 'c' }
      const expected = await reach(running, { ...chat('hm'), ...addressed })
      for (const kind of [
        'reasoning.start',
        'reasoning.thought',
        'reasoning.conclusion',
        'reasoning.guess',
      ]) {
        expect(await reach(running, { kind, ...addressed, payload: { message: 'hm' } })).toEqual(expected)
      }
    }
  })
})

describe('what is delivered', () => {
  const payloads = [
    '{"message":"x","big":12345678901234567890123,"small":1.0e-7,"zero":-0,"one":1.0,"E":1E+2}',
    '{ "message" :\t"x",\n  "list": [ 1 ,2 ], "empty": { } }',
    '{"message":"\\u0061\\/\\n\\"","é":"\\u00e9","emoji":"\\ud83d\\ude00 😀"}',
    '{"z":1,"message":"x","a":2,"10":3,"9":4}',
    '{"message":"<b>&amp;</b>\\u2028\u2028\\u0000\\u200b","_meta":{"x/y":null}}',
    '{"message":"x","payload":{"kind":"chat","payload":{"seq":1}},"constructor":1}',
  ]

  test.for(payloads)('is the payload byte for byte: %s', async (payload) => {
    const { connect } = await start({ participants })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    alice.send(` { "payload" : ${payload} , "kind":"chat","id":"exact" }\n`)
    const later = await connect('carol', { query: 'after=0' })
    for (const client of [alice, bob, later]) {
      const frame = await client.next(byId('exact'))
      const text = client.texts.get(frame) ?? ''
      expect(text.slice(text.indexOf('"payload":'))).toBe(`"payload":${payload}}`)
    }
  })

  test('has the fields of the gateway first and no others', async () => {
    const { connect } = await start({ participants })
    const alice = await connect('alice')
    const sent = {
      id: 'full',
      to: ['bob'],
      kind: 'mcp.request',
      correlationId: ['a', 'b'],
      context: 'c/d',
      rationale: 'because "x"',
      parallelGroup: 0,
      payload: { method: 'm' },
    }
    const frame = await alice.accepted({ ...sent, ts: 'yesterday', from: 'alice' })
    expect(Object.keys(frame).slice(0, 5)).toEqual(['seq', 'protocol', 'ts', 'from', 'id'])
    expect(frame).toEqual({
      ...sent,
      protocol: 'meup/v0.3',
      seq: expect.any(Number),
      ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      from: 'alice',
    })
    const bare = await alice.accepted({ kind: 'reasoning.start', to: [] })
    expect(bare).toMatchObject({ payload: {}, id: expect.stringMatching(/^[\w-]{1,64}$/) })
    expect(bare).not.toHaveProperty('to')
    expect(bare).not.toHaveProperty('context')
  })

  test('gets an id where its sender gave none', async () => {
    const { connect } = await start({ participants })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    alice.send(chat('one'))
    alice.send(chat('two'))
    const [one, two] = [
      await bob.next(({ kind }) => kind === 'chat'),
      await bob.next(({ kind }) => kind === 'chat'),
    ]
    expect(one.id).toMatch(/^[\w-]{1,64}$/)
    expect(two.id).not.toBe(one.id)
  })

  test('has none of the older spellings', async () => {
    const { connect } = await start({ participants })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    alice.send('{"id":"a","kind":"mcp/request","correlation_id":"x","payload":{"method":"m","text":"kept"}}')
    alice.send('{"id":"b","kind":"chat","correlation_id":["x"],"payload":{"n":1.0,"text":"h\\u0069","z":2}}')
    alice.send('{"id":"c","kind":"chat","payload":{"text":"hi","message":"hi"}}')
    for (const client of [alice, bob]) {
      const [a, b, c] = [
        await client.next(byId('a')),
        await client.next(byId('b')),
        await client.next(byId('c')),
      ]
      expect(a).toMatchObject({ kind: 'mcp.request', correlationId: 'x', payload: { text: 'kept' } })
      expect(b).toMatchObject({ kind: 'chat', correlationId: ['x'] })
      expect(client.texts.get(b)).toContain('"payload":{"n":1.0,"message":"h\\u0069","z":2}}')
      expect(c.payload).toEqual({ message: 'hi' })
      for (const frame of [a, b]) expect(frame).not.toHaveProperty('correlation_id')
    }
  })
})
