import { memoryStore, sqliteStore } from '@meup/gateway'
import { FakeClock, testToken } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { byId, type Sent } from './client.js'
import { asking } from './http-client.js'
import { start, temporaryFile } from './support.js'

const participants = {
  agent: ['*'],
  ana: ['*'],
  ben: ['chat', 'mcp.reject'],
  tool: ['*'],
}
const params = `{"name":"deploy","arguments":{"id":12345678901234567890,"rate":1.0,"é":"\\u00e9"}}`
const proposal = (fields: Partial<Sent> = {}): Sent => ({
  ...{ id: 'plan', kind: 'mcp.proposal', to: ['tool'], context: 'release', rationale: 'it is tested' },
  payload: { method: 'tools/call', params: { name: 'deploy' } },
  ...fields,
})
const approval = (fields: Partial<Sent> = {}): Sent => ({
  ...{ kind: 'mcp.request', correlationId: 'plan' },
  ...fields,
})
const gone = { code: 'proposal_not_found', details: { path: '/correlationId' } }

async function proposed(fields: Partial<Sent> = {}, options: Partial<Parameters<typeof start>[0]> = {}) {
  const clock = new FakeClock()
  const running = await start({ participants, clock, ...options })
  const [agent, ana] = [await running.connect('agent'), await running.connect('ana')]
  await agent.accepted(proposal(fields))
  return { ...running, clock, agent, ana }
}

describe('a request that names a proposal and has no payload', () => {
  test('asks for what was proposed: addressees, context, method and params', async () => {
    const { ana, connect } = await proposed()
    const tool = await connect('tool')
    await ana.accepted(approval({ id: 'yes' }))
    expect(await tool.next(byId('yes'))).toMatchObject({
      ...{ from: 'ana', to: ['tool'], context: 'release', correlationId: 'plan' },
      payload: { jsonrpc: '2.0', id: 'yes', method: 'tools/call', params: { name: 'deploy' } },
    })
    expect(await ana.refused(approval())).toMatchObject(gone)
  })

  test('has the params byte for byte, and not the rationale of the proposal', async () => {
    const { agent, ana, connect } = await proposed()
    const tool = await connect('tool')
    const raw = `{"id":"raw","kind":"mcp.proposal","to":["tool"],"rationale":"mine","payload":{"method":"tools/call","params":${params}}}`
    agent.send(raw)
    await ana.next(byId('raw'))
    await ana.accepted(approval({ id: 'yes', correlationId: 'raw' }))
    const frame = await tool.next(byId('yes'))
    expect(frame).not.toHaveProperty('rationale')
    expect(tool.texts.get(frame)).toContain(`"params":${params}`)
  })

  test('takes no id for a notification, and no params where none were proposed', async () => {
    const { ana, agent } = await proposed()
    const payload = { method: 'notifications/roots/list_changed' }
    await agent.accepted(proposal({ id: 'note', payload }))
    const { payload: asked } = await ana.accepted(approval({ correlationId: 'note' }))
    expect(asked).toEqual({ jsonrpc: '2.0', ...payload })
  })

  test('may say why, and repeat addressees in any order', async () => {
    const { ana } = await proposed({ to: ['tool', 'ben'] })
    const sent = approval({ rationale: 'it is due', to: ['ben', 'tool'], payload: {} })
    expect(await ana.accepted(sent)).toMatchObject({ rationale: 'it is due', to: ['ben', 'tool'] })
  })

  test.each([
    ['other addressees', { to: ['ben'] }, { code: 'forbidden' }],
    [
      'another payload',
      { payload: { method: 'tools/call', params: { name: 'drop' } } },
      { code: 'forbidden' },
    ],
    ['half a payload', { payload: { jsonrpc: '2.0' } }, { code: 'invalid_payload' }],
    ['two proposals', { correlationId: ['plan', 'other'] }, { code: 'invalid_payload' }],
    ['no proposal', { correlationId: 'nothing' }, gone],
    ['what is no proposal', { correlationId: 'hello' }, gone],
  ])('is refused with %s, and changes nothing', async (_, fields, refusal) => {
    const { ana, agent } = await proposed()
    await agent.accepted(proposal({ id: 'other' }))
    await agent.accepted({ id: 'hello', kind: 'chat', payload: { message: 'hello' } })
    expect(await ana.refused(approval(fields))).toMatchObject(refusal)
    await ana.accepted(approval())
  })

  test('is a retry with the same id alone: before the commit and after it', async () => {
    const { ana, agent } = await proposed({
      payload: { method: 'tools/call', params: { name: 'deploy' }, uses: 2 },
    })
    for (const _ of [1, 2]) ana.send(approval({ id: 'yes' }))
    const first = await ana.next(byId('yes'))
    expect(await ana.accepted(approval({ id: 'yes' }))).toEqual(first)
    const whole = approval({ id: 'yes', to: first.to, payload: first.payload })
    expect(await ana.refused(whole)).toMatchObject({ code: 'duplicate_id' })
    await ana.accepted(approval({ id: 'again' }))
    expect(await ana.refused(approval())).toMatchObject(gone)
    await agent.accepted({ kind: 'chat', payload: { message: 'still here' } })
  })

  test('is refused after expiry, withdrawal, and one’s own rejection', async () => {
    const expiresAt = '2030-01-01T00:00:00Z'
    const { ana, agent, clock } = await proposed({ payload: { method: 'ping', expiresAt } })
    await agent.accepted(proposal({ id: 'second' }))
    await agent.accepted({ kind: 'mcp.withdraw', correlationId: 'second', payload: { reason: 'no' } })
    expect(await ana.refused(approval({ correlationId: 'second' }))).toMatchObject(gone)
    await agent.accepted(proposal({ id: 'third' }))
    await ana.accepted({ kind: 'mcp.reject', correlationId: 'third', payload: { reason: 'no' } })
    expect(await ana.refused(approval({ correlationId: 'third' }))).toMatchObject({ code: 'forbidden' })
    clock.advance(Date.parse(expiresAt) - clock.now())
    expect(await ana.refused(approval())).toMatchObject(gone)
  })

  test('needs the capability for what was proposed', async () => {
    const { connect, ana } = await proposed()
    const ben = await connect('ben')
    expect(await ben.refused(approval())).toMatchObject({ code: 'capability_violation' })
    await ana.accepted(approval())
  })

  test('is approved once where two come at once', async () => {
    const { ana, agent } = await proposed()
    ana.send(approval({ id: 'one' }))
    agent.send(approval({ id: 'two' }))
    const outcomes = await Promise.all([
      ana.next((frame) => frame.id === 'one' || frame.correlationId === 'one'),
      agent.next((frame) => frame.id === 'two' || frame.correlationId === 'two'),
    ])
    expect(outcomes.filter(({ kind }) => kind === 'system.error')).toHaveLength(1)
  })

  test('comes over HTTP as well', async () => {
    const { url } = await proposed()
    const response = await fetch(`${url}/spaces/test/envelopes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testToken('ana')}` },
      body: '{"kind":"mcp.request","correlationId":"plan"}',
    })
    expect(response.status).toBe(201)
    const [receipt] = (await response.json()) as { id: string }[]
    const { envelopes } = await asking(url, 'ana').history('kind=mcp.request')
    expect(envelopes.at(-1)).toMatchObject({ id: receipt?.id, to: ['tool'], payload: { id: receipt?.id } })
  })

  test.each(['memory', 'disk'])('is approved after a restart, in %s', async (where) => {
    const path = temporaryFile('log.db')
    const spaces = new Map()
    const store = () => (where === 'disk' ? sqliteStore({ path }) : memoryStore(spaces))
    const first = await proposed({}, { store: await store() })
    await first.close()
    const second = await start({ participants, store: await store() })
    const ana = await second.connect('ana')
    expect(await ana.accepted(approval())).toMatchObject({ to: ['tool'], payload: { method: 'tools/call' } })
  })
})

test('a proposal that leaves no room for its approval is refused', async () => {
  const { agent, ana } = await proposed({}, { limits: { maxEnvelopeBytes: 4096 } })
  const of = (chars: number) => ({ method: 'tools/call', params: { name: 'x'.repeat(chars) } })
  expect(await agent.refused(proposal({ id: 'large', payload: of(3500) }))).toMatchObject({
    code: 'payload_too_large',
  })
  await agent.accepted(proposal({ id: 'fits', payload: of(2800) }))
  await ana.accepted(approval({ correlationId: 'fits', rationale: 'y'.repeat(500) }))
})

test('what an approval fills in is charged to whoever approves', async () => {
  const bytes = { perSecond: 100_000, burst: 300_000 }
  const params = { name: 'x'.repeat(200_000) }
  const { ana, clock } = await proposed(
    { payload: { method: 'tools/call', params, uses: 2 } },
    { limits: { rates: { bytes } } },
  )
  await ana.accepted(approval())
  await ana.accepted(approval())
  ana.send({ id: 'later', kind: 'chat', payload: { message: 'later' } })
  await clock.advance(500)
  expect(ana.frames.some(byId('later'))).toBe(false)
  await clock.advance(5_000)
  await ana.next(byId('later'))
})
