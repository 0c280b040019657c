import { memoryStore } from '@meup/gateway'
import { testToken } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { byId, range, type Sent } from './client.js'
import { asking } from './http-client.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['*'], carol: ['chat'], auditor: ['observe.targeted'] }
const chat: Sent = { kind: 'chat', payload: { message: 'hello' } }

test('GET participants tells who belongs to the space, who is there, and what each may do', async () => {
  const { connect, url } = await start({ participants })
  const alice = await connect('alice')
  const { seq } = await alice.accepted(chat)
  expect(await asking(url, 'carol').json('/participants')).toEqual({
    participants: [
      { id: 'alice', kind: 'agent', capabilities: ['*'], status: 'present' },
      { id: 'bob', kind: 'agent', capabilities: ['*'], status: 'away' },
      { id: 'carol', kind: 'agent', capabilities: ['chat'], status: 'away' },
      { id: 'auditor', kind: 'agent', capabilities: ['observe.targeted'], status: 'away' },
    ],
    epoch: alice.welcome.space.epoch,
    head: seq,
  })
})

const opened = (
  context: string,
  owner: string,
  state: string,
  counts: number[],
  children: object[] = [],
) => ({
  context,
  owner,
  state,
  reasoningVisible: true,
  startedAt: expect.stringMatching(/^\d{4}-/),
  counts: { envelopes: counts[0], thoughts: counts[1], contributors: counts[2] },
  children,
})

/** Two runs: a finished one, with a nested context and reasoning of others in it, and an open one. */
async function twoRuns(store = memoryStore()) {
  const running = await start({ participants, store })
  const steps: [string, Sent][] = [
    ['alice', { id: 'run', kind: 'reasoning.start' }],
    ['alice', { kind: 'reasoning.thought', context: 'run' }],
    ['bob', { kind: 'reasoning.guess', context: 'run' }],
    ['bob', { id: 'in', kind: 'reasoning.start', context: 'run' }],
    ['bob', { kind: 'reasoning.thought', context: 'run/in' }],
    ['carol', { ...chat, context: 'run/in/deeper' }],
    ['alice', { kind: 'mcp.request', to: ['bob'], context: 'run', payload: { method: 'x' } }],
    ['alice', { ...chat, to: ['carol'], context: 'run' }],
    ['alice', { kind: 'reasoning.thought', to: ['bob'], context: 'run' }],
    ['alice', { kind: 'reasoning.conclusion', context: 'run' }],
    ['bob', { id: 'other', kind: 'reasoning.start' }],
    ['alice', { ...chat, context: 'free/path' }],
  ]
  for (const [from, sent] of steps) {
    const { status, body } = await running.post(from, sent)
    if (status !== 201) throw new Error(JSON.stringify(body))
  }
  return running
}

const free = (context: string, children: object[] = []) => ({
  ...{ context, state: 'free', startedAt: expect.stringMatching(/^\d{4}-/), children },
  counts: { envelopes: 1, thoughts: 0, contributors: 1 },
})
const inner = opened('run/in', 'bob', 'concluded', [2, 1, 2], [free('run/in/deeper')])
const run = opened('run', 'alice', 'concluded', [7, 3, 3], [inner])
const other = opened('other', 'bob', 'open', [0, 0, 1])
const path = free('free', [free('free/path')])

describe('GET contexts', () => {
  test('gives the tree, and counts what everyone may read in each context and below', async () => {
    const { url, gateway } = await twoRuns()
    const [{ head = 0 } = {}] = gateway.report()
    for (const reader of ['carol', 'auditor']) {
      expect(await asking(url, reader).json('/contexts')).toEqual({
        contexts: [run, other, path],
        epoch: expect.any(String),
        head,
      })
    }
  })

  test('counts what history has for those to whom nothing was addressed', async () => {
    const { url } = await twoRuns()
    const { history } = asking(url, 'guest')
    await expect(history()).rejects.toThrow('unauthorized')
    const all = await asking(url, 'auditor').history('context=run')
    const [opening, ...inside] = all.envelopes
    expect(opening).toMatchObject({ id: 'run', kind: 'reasoning.start' })
    expect(inside.filter(({ kind, to }) => to === undefined || kind.startsWith('mcp.'))).toHaveLength(7)
  })

  test('survives a restart', async () => {
    const spaces = new Map()
    const first = await twoRuns(memoryStore(spaces))
    await first.close()
    const { url } = await start({ participants, store: memoryStore(spaces) })
    expect(await asking(url, 'bob').json('/contexts')).toMatchObject({ contexts: [run, other, path] })
  })

  test('shows one with what is nested in it', async () => {
    const { url } = await twoRuns()
    const { json } = asking(url, 'bob')
    expect(await json('/contexts/run')).toEqual(run)
    expect(await json('/contexts/run/in')).toEqual(inner)
    expect(await json('/contexts/run%2Fin')).toEqual(inner)
  })

  test('is found by the beginning of its id', async () => {
    const { url } = await twoRuns()
    expect(await asking(url, 'bob').json('/contexts/ru')).toEqual(run)
  })

  test('knows no others', async () => {
    const { url } = await twoRuns()
    for (const path of ['nothing', 'free/other', 'run/', '__proto__']) {
      const response = await asking(url, 'bob').get(`/contexts/${path}`)
      expect([response.status, await response.json()]).toMatchObject([404, { code: 'not_found' }])
    }
  })

  test('shows a context to those who may read its start and those around it, to others what they may read there', async () => {
    const { url, connect, post } = await start({ participants })
    await post('alice', { id: 'secret', kind: 'reasoning.start', to: ['bob'] })
    await post('alice', { id: 'open', kind: 'reasoning.start', context: 'secret', to: [] })
    for (const [reader, roots] of [
      ['alice', ['secret']],
      ['bob', ['secret']],
      ['auditor', ['secret']],
      ['carol', ['secret']],
    ] as const) {
      const { json } = asking(url, reader)
      const { contexts } = (await json('/contexts')) as { contexts: { context: string }[] }
      expect([reader, contexts.map(({ context }) => context)]).toEqual([reader, roots])
      expect(await json('/contexts/secret')).toMatchObject({ state: reader === 'carol' ? 'free' : 'open' })
      const { welcome } = await connect(reader)
      expect(welcome.contexts.map(({ context }) => context)).toEqual(
        reader === 'carol' ? [] : ['secret', 'secret/open'],
      )
    }
  })

  test('with mcp visible to addressees does not count what they ask and answer', async () => {
    const { url, post } = await start({ participants, mcp: { visibility: 'addressees' } })
    await post('alice', { id: 'run', kind: 'reasoning.start' })
    await post('alice', {
      id: 'ask',
      kind: 'mcp.request',
      to: ['bob'],
      context: 'run',
      payload: { method: 'x' },
    })
    await post('bob', { kind: 'mcp.response', correlationId: 'ask', context: 'run', payload: { result: {} } })
    await post('alice', { kind: 'mcp.proposal', to: ['bob'], context: 'run', payload: { method: 'x' } })
    expect(await asking(url, 'carol').json('/contexts/run')).toEqual(
      opened('run', 'alice', 'open', [1, 0, 1]),
    )
  })

  test('tells at most 1000 contributors apart', async () => {
    const many = Object.fromEntries(range(1, 1002).map((count) => [`p${count}`, ['*']]))
    const { url, gateway } = await start({ participants: many })
    for (const id of Object.keys(many)) {
      const visitor = await gateway.identify({ space: 'test', token: testToken(id), remote: 'here' })
      if ('message' in visitor) throw new Error(visitor.message)
      const sender = { ...visitor, reply: () => {}, echo: () => {} }
      const frame = id === 'p1' ? { id: 'run', kind: 'reasoning.start' } : { ...chat, context: 'run' }
      visitor.space.submit(sender, Buffer.from(JSON.stringify(frame)))
    }
    expect(await asking(url, 'p1').json('/contexts/run')).toMatchObject({
      counts: { envelopes: 1001, contributors: 1000 },
    })
  })

  test('needs a token', async () => {
    const { url } = await twoRuns()
    for (const path of ['participants', 'contexts', 'contexts/run', 'envelopes']) {
      const response = await fetch(`${url}/spaces/test/${path}`)
      expect([response.status, await response.json()]).toMatchObject([401, { code: 'unauthorized' }])
    }
  })
})

test('what was refused or came late opens and counts nothing wrong', async () => {
  const { connect, url } = await start({ participants })
  const [alice, bob] = [await connect('alice'), await connect('bob')]
  await alice.accepted({ id: 'run', kind: 'reasoning.start' })
  await bob.refused({ kind: 'reasoning.conclusion', context: 'run' })
  await alice.accepted({ kind: 'reasoning.cancel', context: 'run' })
  const { id } = await bob.accepted({ kind: 'reasoning.thought', context: 'run' })
  await alice.next(byId(id))
  expect(await asking(url, 'bob').json('/contexts/run')).toEqual(
    opened('run', 'alice', 'cancelled', [2, 1, 2]),
  )
})
