import { memoryStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { fillIn } from '@meup/protocol/error-texts'
import { describe, expect, test } from 'vitest'
import { texts } from '../src/core/refusal-texts.js'
import { ofKind, type Sent } from './client.js'
import { start } from './support.js'

const participants = {
  agent: ['*'],
  ana: ['*'],
  ben: ['*'],
  tool: ['*'],
  viewer: ['mcp.reject'],
}
const call = { method: 'tools/call', params: { name: 'deploy', arguments: { to: 'production', tries: 3 } } }
const proposal = (more: Record<string, unknown> = {}): Sent => ({
  id: 'plan',
  kind: 'mcp.proposal',
  to: ['tool'],
  payload: { ...call, ...more },
})
const fulfilment = (fields: Partial<Sent> = {}): Sent => ({
  kind: 'mcp.request',
  to: ['tool'],
  correlationId: 'plan',
  payload: { jsonrpc: '2.0', id: 1, ...call },
  ...fields,
})
const withdrawal: Sent = {
  kind: 'mcp.withdraw',
  correlationId: 'plan',
  payload: { reason: 'no longer needed' },
}
const rejection: Sent = { kind: 'mcp.reject', correlationId: 'plan', payload: { reason: 'too risky' } }

const gone = { code: 'proposal_not_found', details: { path: '/correlationId' } }
const forbidden = { code: 'forbidden' }

async function proposed(
  more: Record<string, unknown> = {},
  options: Partial<Parameters<typeof start>[0]> = {},
) {
  const clock = new FakeClock()
  const running = await start({ participants, clock, ...options })
  const [agent, ana, ben] = [
    await running.connect('agent'),
    await running.connect('ana'),
    await running.connect('ben'),
  ]
  await agent.accepted(proposal(more))
  return { ...running, clock, agent, ana, ben }
}

describe('a request that fulfils a proposal', () => {
  test('is an ordinary one, and uses the proposal up', async () => {
    const { ana, ben, connect } = await proposed()
    const { id } = await ana.accepted(fulfilment())
    const tool = await connect('tool')
    await tool.accepted({ kind: 'mcp.response', correlationId: id, payload: { result: {} } })
    for (const who of [ana, ben]) expect(await who.refused(fulfilment())).toMatchObject(gone)
  })

  test('comes from whoever may send it, the proposer among them', async () => {
    const { agent, connect } = await proposed({ uses: 2 })
    const viewer = await connect('viewer')
    expect(await viewer.refused(fulfilment())).toMatchObject({ code: 'capability_violation' })
    await agent.accepted(fulfilment())
  })

  test('is accepted of one of two who approve at once; the other is told that it is too late', async () => {
    const { ana, ben } = await proposed()
    const answers = await Promise.allSettled([ana, ben].map((who) => who.accepted(fulfilment())))
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const [late] = answers.filter((answer) => answer.status === 'rejected')
    expect(String(late?.reason)).toContain('proposal_not_found')
  })

  test('counts at once, before it is committed', async () => {
    const { agent } = await proposed()
    agent.send({ ...proposal(), id: 'quick' })
    for (const id of ['first', 'second']) agent.send(fulfilment({ id, correlationId: 'quick' }))
    expect(await agent.next(ofKind('system.error'))).toMatchObject({ correlationId: 'second', payload: gone })
  })

  test('is acknowledged once more when it is sent again', async () => {
    const { ana, ben } = await proposed()
    const original = await ana.accepted(fulfilment({ id: 'once' }))
    expect(await ana.accepted(fulfilment({ id: 'once' }))).toEqual(original)
    expect(await ben.refused(fulfilment({ id: 'once' }))).toMatchObject({ code: 'duplicate_id' })
  })

  test('does not use a proposal up when it is refused', async () => {
    const { ana } = await proposed()
    const fields = { ...fulfilment(), parallelGroup: -1 }
    expect(await ana.refused(fields)).toMatchObject({ code: 'invalid_envelope' })
    expect(await ana.refused(fulfilment({ context: '//' }))).toMatchObject({ code: 'invalid_context' })
    await ana.accepted(fulfilment())
  })

  test('is told apart from a request that answers something else', async () => {
    const { ana } = await proposed()
    await ana.accepted({ id: 'question', kind: 'chat', payload: { message: 'what now?' } })
    for (const correlationId of ['question', 'nothing']) {
      await ana.accepted({ kind: 'mcp.request', correlationId, payload: { method: 'other' } })
    }
  })
})

describe('a rejection', () => {
  test('keeps its sender from fulfilling the proposal, and nobody else', async () => {
    const { ana, ben } = await proposed()
    await ana.accepted(rejection)
    await ana.accepted(rejection)
    expect(await ana.refused(fulfilment())).toMatchObject(forbidden)
    await ben.accepted(fulfilment())
    expect(await ana.refused(fulfilment())).toMatchObject(gone)
  })

  test('does not come from the proposer, who may withdraw instead', async () => {
    const { agent } = await proposed()
    expect(await agent.refused(rejection)).toMatchObject({
      ...forbidden,
      message: fillIn(texts.ownProposal, { id: 'plan', from: 'agent' }),
    })
  })

  test('comes from those who could fulfil the proposal, and have the capability to reject', async () => {
    const may = {
      kind: 'mcp.request',
      to: 'tool',
      payload: { method: 'tools/call', params: { name: 'deploy' } },
    }
    const reviewers = {
      decider: [may, 'mcp.reject'],
      other: [{ ...may, payload: { ...may.payload, params: { name: 'read' } } }, 'mcp.reject'],
      mute: [may],
    }
    const { connect, ana } = await proposed({}, { participants: { ...participants, ...reviewers } })
    const [decider, other, viewer, mute] = [
      await connect('decider'),
      await connect('other'),
      await connect('viewer'),
      await connect('mute'),
    ]
    for (const who of [other, viewer]) expect(await who.refused(rejection)).toMatchObject(forbidden)
    expect(await mute.refused(rejection)).toMatchObject({ code: 'capability_violation' })
    await decider.accepted(rejection)
    await ana.accepted(fulfilment())
  })
})

describe('a withdrawal', () => {
  test('closes the proposal', async () => {
    const { agent, ana } = await proposed({ uses: 5 })
    await ana.accepted(fulfilment())
    await agent.accepted(withdrawal)
    expect(await ana.refused(fulfilment())).toMatchObject(gone)
    expect(await ana.refused(rejection)).toMatchObject(gone)
    expect(await agent.refused(withdrawal)).toMatchObject(gone)
  })

  test('needs no capability', async () => {
    const proposer = { ...participants, agent: ['mcp.proposal'] }
    const { agent, ana } = await proposed({}, { participants: proposer })
    await agent.accepted(withdrawal)
    expect(await ana.refused(fulfilment())).toMatchObject(gone)
  })

  test('comes from the proposer alone', async () => {
    const { ana, connect } = await proposed()
    const viewer = await connect('viewer')
    for (const who of [ana, viewer]) {
      expect(await who.refused(withdrawal)).toMatchObject({
        ...forbidden,
        message: fillIn(texts.othersProposal, { proposer: 'agent', id: 'plan' }),
      })
    }
    await ana.accepted(fulfilment())
  })
})

describe('what is withdrawn or rejected must be open, all of it', () => {
  test('and nothing happens where one is not', async () => {
    const { agent, ana } = await proposed()
    await agent.accepted({ id: 'chat', kind: 'chat', payload: { message: 'hm' } })
    for (const other of ['nothing', 'chat']) {
      const correlationId = ['plan', other]
      expect(await agent.refused({ ...withdrawal, correlationId })).toMatchObject(gone)
      expect(await ana.refused({ ...rejection, correlationId })).toMatchObject(gone)
    }
    await ana.accepted(fulfilment())
  })
})

describe('a proposal with an end', () => {
  const within = (ms: number): string => new Date(new FakeClock().now() + ms).toISOString()

  test('can be answered until then', async () => {
    const { agent, ana, clock } = await proposed({ expiresAt: within(1000), uses: 9 })
    clock.advance(999)
    await ana.accepted(fulfilment())
    clock.advance(1)
    expect(await ana.refused(fulfilment())).toMatchObject(gone)
    expect(await ana.refused(rejection)).toMatchObject(gone)
    expect(await agent.refused(withdrawal)).toMatchObject(gone)
  })

  test.for([within(0), within(-1), '2026-02-31T25:00:00Z', '2024-01-01T00:00:00+01:00'])(
    'has one in the future, not %s',
    async (expiresAt) => {
      const { agent } = await proposed()
      const sent = { ...proposal({ expiresAt }), id: 'late' }
      const refusal = await agent.refused(sent)
      expect(refusal).toMatchObject({ code: 'invalid_payload', details: { path: '/payload/expiresAt' } })
    },
  )

  test.for([7, 'tomorrow'])('names it as a time, not as %j', async (expiresAt) => {
    const { agent } = await proposed()
    expect(await agent.refused({ ...proposal({ expiresAt }), id: 'odd' })).toMatchObject({
      code: 'invalid_payload',
      details: { path: '/payload/expiresAt' },
    })
  })
})

test('what became of proposals outlives the gateway', async () => {
  const spaces = new Map()
  const clock = new FakeClock()
  const first = await proposed({ uses: 2 }, { clock, store: memoryStore(spaces) })
  await first.ben.accepted(rejection)
  await first.ana.accepted(fulfilment({ id: 'once' }))
  await first.agent.accepted({ ...proposal(), id: 'other' })
  await first.agent.accepted({ ...withdrawal, correlationId: 'other' })
  await first.close()

  const { connect } = await start({ participants, clock, store: memoryStore(spaces) })
  const [ana, ben] = [await connect('ana'), await connect('ben')]
  expect(await ben.refused(fulfilment())).toMatchObject(forbidden)
  expect(await ana.refused(fulfilment({ correlationId: 'other' }))).toMatchObject(gone)
  expect(await ana.refused(fulfilment({ payload: { ...call, method: 'x' } }))).toMatchObject(forbidden)
  await ana.accepted(fulfilment({ id: 'once' }))
  await ana.accepted(fulfilment())
  expect(await ana.refused(fulfilment())).toMatchObject(gone)
})

test('past ten thousand the oldest proposals are over, and known to be', async () => {
  const { post, connect } = await start({ participants })
  const ana = await connect('ana')
  for (let done = 0; done <= 10_000; done += 500) {
    const some = Array.from({ length: Math.min(500, 10_001 - done) }, (_, index) => ({
      id: `p${done + index}`,
      kind: 'mcp.proposal',
      payload: { method: 'm' },
    }))
    expect(await post('agent', some)).toMatchObject({ status: 201 })
  }
  const ask = { kind: 'mcp.request', payload: { method: 'm' } }
  expect(await ana.refused({ ...ask, correlationId: 'p0' })).toMatchObject(gone)
  await ana.accepted({ ...ask, correlationId: 'p1' })
  await ana.accepted({ ...ask, correlationId: 'p10000' })
})
