import { HttpClient } from '@meup/agent-sdk/http'
import { expect, test } from 'vitest'
import { PendingProposals } from '../src/join/pending-proposals.js'
import { envelope } from './support/turns.js'

const proposal = (seq: number) =>
  envelope(seq, 'mcp.proposal', 'ben', {
    to: ['files'],
    payload: { method: 'tools/call', params: { name: 'read' } },
  })

test.for([
  ['whose proposer is kicked', envelope(3, 'space.kick', 'ana', { payload: { participantId: 'ben' } })],
  [
    'that is pruned',
    envelope(3, 'system.space', 'system:gateway', { payload: { event: 'pruned', through: 2 } }),
  ],
] as const)('a proposal %s waits no more', async ([, end]) => {
  const pending = new PendingProposals({ id: 'ana', can: () => true })
  await pending.read(new HttpClient({ url: 'http://127.0.0.1:1', space: 'test' })).catch(() => {})
  for (const each of [proposal(1), proposal(2)]) pending.onEnvelope(each)
  expect(pending.list()).toHaveLength(2)
  pending.onEnvelope(end)
  expect(pending.list()).toEqual([])
})
