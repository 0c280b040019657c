import { type Envelope, Kind, PROTOCOL } from '@meup/protocol'

type Fields = Partial<Envelope> & Pick<Envelope, 'from' | 'kind'>

/** Completes envelopes to delivered ones: adds ids and seqs that the flow does not set. */
export function delivered(flow: readonly Fields[]): Envelope[] {
  return flow.map((fields, index) => ({
    protocol: PROTOCOL,
    id: `id-${index + 1}`,
    seq: index + 1,
    ts: '2026-01-01T00:00:00.000Z',
    payload: {},
    ...fields,
  }))
}

const run = (agent: string, start: string, trigger: string): Fields[] => [
  { id: start, kind: Kind.reasoningStart, from: agent, correlationId: trigger },
  { context: start, kind: Kind.reasoningThought, from: agent },
  { context: start, kind: Kind.mcpRequest, from: agent, payload: { method: 'tools/call' } },
  { context: start, kind: Kind.reasoningConclusion, from: agent },
]
const answer = (agent: string, id: string, trigger: string): Fields => ({
  id,
  kind: Kind.chat,
  from: agent,
  correlationId: trigger,
  payload: { message: id },
})

/** A flow in which one agent reasons about msg-100 and answers it. */
export const singleAgent = delivered([
  { id: 'msg-100', kind: Kind.chat, from: 'user', payload: { message: 'Should we deploy?' } },
  ...run('agent', 'msg-101', 'msg-100'),
  answer('agent', 'msg-108', 'msg-100'),
])

/** A flow in which two agents reason about msg-200 at the same time. */
export const twoAgents = delivered([
  { id: 'msg-200', kind: Kind.chat, from: 'user', payload: { message: 'Should we deploy?' } },
  ...run('security-agent', 'msg-201', 'msg-200'),
  ...run('perf-agent', 'msg-202', 'msg-200'),
  answer('security-agent', 'msg-210', 'msg-200'),
  answer('perf-agent', 'msg-211', 'msg-200'),
])
