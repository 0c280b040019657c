import { FakeClock } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { byId, type Sent } from './client.js'
import { asking } from './http-client.js'
import { start } from './support.js'

const participants = { agent: ['*'], ana: ['*'], tool: ['*'], viewer: ['chat'] }
const proposal = (id: string, more: object = {}): Sent => ({
  ...{ id, kind: 'mcp.proposal', to: ['tool'], context: 'release', rationale: 'it is due' },
  payload: { method: 'tools/call', params: { name: 'deploy' }, ...more },
})

interface Answer {
  readonly proposals: readonly { readonly id: string; readonly seq: number }[]
  readonly has_more: boolean
  readonly next?: number
}

async function room() {
  const clock = new FakeClock()
  const running = await start({ participants, clock })
  const [agent, ana] = [await running.connect('agent'), await running.connect('ana')]
  const list = async (query = '', as = 'viewer') =>
    (await asking(running.url, as).json(`/proposals${query}`)) as Answer
  return { ...running, clock, agent, ana, list }
}

describe('the proposals of a space over HTTP', () => {
  test('are those that may still be fulfilled, oldest first', async () => {
    const { agent, ana, list, clock } = await room()
    const expiresAt = new Date(clock.now() + 60_000).toISOString()
    for (const id of ['used', 'withdrawn', 'rejected']) await agent.accepted(proposal(id))
    await agent.accepted(proposal('twice', { uses: 2 }))
    await agent.accepted(proposal('late', { expiresAt }))
    await ana.accepted({ kind: 'mcp.request', correlationId: 'used' })
    await ana.accepted({ kind: 'mcp.request', correlationId: 'twice' })
    await agent.accepted({ kind: 'mcp.withdraw', correlationId: 'withdrawn', payload: { reason: 'no' } })
    await ana.accepted({ kind: 'mcp.reject', correlationId: 'rejected', payload: { reason: 'no' } })
    const common = { from: 'agent', to: ['tool'], context: 'release', rationale: 'it is due' }
    const call = { method: 'tools/call', params: { name: 'deploy' } }
    expect((await list()).proposals).toMatchObject([
      { id: 'rejected', ...common, ...call, usesLeft: 1, rejectedBy: ['ana'] },
      { id: 'twice', usesLeft: 1, rejectedBy: [] },
      { id: 'late', expiresAt },
    ])
    await clock.advance(60_000)
    expect((await list()).proposals.map(({ id }) => id)).toEqual(['rejected', 'twice'])
  })

  test('have their params with the digits that were sent', async () => {
    const { agent, url } = await room()
    const params = '{"id":12345678901234567890,"rate":1.0,"e":"é"}'
    agent.send(`{"id":"raw","kind":"mcp.proposal","payload":{"method":"x","params":${params}}}`)
    await agent.next(byId('raw'))
    expect(await (await asking(url, 'ana').get('/proposals')).text()).toContain(`"params":${params}`)
  })

  test('come in pages', async () => {
    const { agent, list } = await room()
    for (const id of ['a', 'b', 'c']) await agent.accepted(proposal(id))
    const first = await list('?limit=2')
    expect(first).toMatchObject({ proposals: [{ id: 'a' }, { id: 'b' }], has_more: true })
    expect(await list(`?limit=2&after=${first.next}`)).toMatchObject({
      proposals: [{ id: 'c' }],
      has_more: false,
    })
  })
})
