import { type Envelope, GATEWAY, Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { replayLog } from '../../src/core/replay.js'
import { logOf, textOf } from '../replayed-log.js'

test('a state from a snapshot goes on forgetting where the whole log would', async () => {
  const many = 10_400
  const made = Array.from({ length: many }, (_, i): Envelope[] => {
    const common = {
      protocol: 'meup/v0.3' as const,
      ts: '2026-01-02T03:04:05.678Z',
      from: 'ana',
      payload: {},
    }
    return [
      { ...common, id: `run${i}`, kind: Kind.reasoningStart },
      { ...common, id: `ask${i}`, kind: Kind.mcpRequest, to: ['ben'] },
      { ...common, id: `end${i}`, kind: Kind.reasoningConclusion, context: `run${i}` },
      { ...common, id: `plan${i}`, kind: Kind.mcpProposal, payload: { method: 'x' } },
      { ...common, id: `say${i}`, kind: Kind.chat },
    ]
  }).flat()
  const agent = { kind: 'agent', capabilities: [] }
  const configured = { participants: { ana: agent, ben: agent }, mcp: { visibility: 'everyone' } }
  const begun: Envelope = {
    protocol: 'meup/v0.3',
    id: 'begun',
    ts: '2026-01-02T03:04:05.678Z',
    from: GATEWAY,
    kind: Kind.systemSpace,
    payload: { event: 'configured', ...configured },
  }
  const log = await logOf([begun, ...made])
  const whole = await replayLog(log)
  await log.prune(50_900, (await replayLog(log, 50_900)).toSnapshot())
  const resumed = await replayLog(log)
  expect(textOf(resumed)).toBe(textOf(whole))
  expect(resumed.contexts.get('run0')).toBeUndefined()
  expect(resumed.contexts.get(`run${many - 1}`)).toMatchObject({ state: 'concluded' })
  expect(resumed.calls.request('ask0')).toBeUndefined()
  expect(resumed.calls.request(`ask${many - 1}`)).toMatchObject({ from: 'ana' })
  expect(resumed.calls.proposal('plan0', 0)).toBeUndefined()
  expect(resumed.calls.proposal(`plan${many - 1}`, 0)).toMatchObject({ from: 'ana' })
  expect(resumed.hops.of({ from: 'ben', correlationId: 'say0', payload: {} })).toBe(0)
  expect(resumed.hops.of({ from: 'ben', correlationId: `say${many - 1}`, payload: {} })).toBe(1)
})
