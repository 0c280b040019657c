import { FakeClock, testSpaceConfig } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import type { Sent } from './client.js'
import { start } from './support.js'

const participants = { agent: ['*'], ana: ['*'], ben: ['*'], tool: ['*'] }
const call = { method: 'tools/call', params: { name: 'deploy' } }
const proposal: Sent = { id: 'plan', kind: 'mcp.proposal', to: ['tool'], payload: call }
const fulfilment = (correlationId = 'plan'): Sent => ({
  kind: 'mcp.request',
  to: ['tool'],
  correlationId,
  payload: { jsonrpc: '2.0', id: 1, ...call },
})
const gone = { code: 'proposal_not_found', details: { path: '/correlationId' } }

async function proposed() {
  const clock = new FakeClock()
  const running = await start({ participants, clock })
  const [agent, ana, ben] = [
    await running.connect('agent'),
    await running.connect('ana'),
    await running.connect('ben'),
  ]
  await agent.accepted(proposal)
  return { ...running, clock, agent, ana, ben }
}

describe('the proposals of one who is out', () => {
  test('are closed when the operator removes it, also where it is configured again', async () => {
    const { gateway, ana } = await proposed()
    const { agent: _, ...rest } = participants
    for (const each of [rest, participants]) {
      await gateway.reconfigure([testSpaceConfig({ participants: each })])
    }
    expect(await ana.refused(fulfilment())).toMatchObject(gone)
  })

  test('are closed when its invitation ends', async () => {
    const { ana, clock, dial } = await proposed()
    const expiresAt = new Date(clock.now() + 1000).toISOString()
    const invite = { participantId: 'temp', capabilities: ['mcp.proposal'], expiresAt }
    const { id } = await ana.accepted({ kind: 'space.invite', payload: invite })
    const { payload } = await ana.next(
      (frame) => frame.kind === 'space.invite-ack' && frame.correlationId === id,
    )
    const temp = await dial({ token: String(payload.token) })
    await temp.accepted({ ...proposal, id: 'brief' })
    clock.advance(1000)
    // Invited anew it is somebody else.
    await ana.accepted({ kind: 'space.invite', payload: { ...invite, expiresAt: undefined } })
    expect(await ana.refused(fulfilment('brief'))).toMatchObject(gone)
  })
})
