import { ProposalError } from '@meup/agent-sdk'
import { SpaceClient } from '@meup/agent-sdk/internal'
import { Kind } from '@meup/protocol'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { eventually } from './support/eventually.js'
import {
  accepted,
  fromGateway,
  makeWelcome,
  type ScriptedLine,
  scriptedDial,
} from './support/scripted-line.js'

/** Cases that depend on the order in which frames arrive, so the test acts as the gateway. */

/** Waits between reconnect attempts are random, so this makes them 0. */
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

const may = (...capabilities: string[]) => ({ you: { id: 'bot', capabilities } })

async function seated(...capabilities: string[]) {
  const line = scriptedDial('bot')
  const opening = SpaceClient.open(line.dial, { url: 'memory:', space: 'test' })
  const first = await line.next()
  first.welcome(may(...capabilities))
  return { ...line, first, seat: await opening }
}

/** Resolves with the envelope that was sent at this index. */
async function sent(line: ScriptedLine, index: number) {
  await eventually(() => expect(line.sent.length).toBeGreaterThan(index))
  const envelope = line.sent[index]
  if (envelope === undefined) throw new Error('it was just there')
  return envelope
}

const approval = (proposalId: string, seq: number) => {
  const payload = { method: 'tools/call' }
  const request = { id: 'approval', kind: Kind.mcpRequest, to: ['tools'], correlationId: proposalId, payload }
  return accepted('ana', request, seq)
}
const response = (seq: number) => {
  const payload = { result: { content: [{ type: 'text', text: 'done' }] } }
  return accepted(
    'tools',
    { id: 'r', kind: Kind.mcpResponse, to: ['ana'], correlationId: 'approval', payload },
    seq,
  )
}

/** The proposal into which the gateway turns a call that its sender may not make. */
const proposed = ({ payload, ...call }: Awaited<ReturnType<typeof sent>>) => {
  const { method, params } = payload as { method: string; params: object }
  expect(call).toMatchObject({ kind: Kind.mcpRequest, orPropose: {} })
  const { orPropose: _, ...fields } = call as typeof call & { orPropose?: unknown }
  return { ...fields, kind: Kind.mcpProposal, payload: { method, params } }
}

test('what the gateway has made a proposal is one, whatever its sender thought that it may do', async () => {
  const { first, seat } = await seated('mcp.*')
  const call = seat.call('tools/act', {}, { why: 'because' })
  const request = await sent(first, 0)
  expect(request).toMatchObject({ kind: Kind.mcpRequest, to: ['tools'], rationale: 'because' })
  first.deliver(accepted('bot', proposed(request), 1), approval(request.id, 2), response(3))
  expect((await call).text).toBe('done')
  seat.close()
})

test('a decision that comes in one packet with the acknowledgement is not missed', async () => {
  const { first, seat } = await seated('mcp.proposal')
  const call = seat.call('tools/act')
  const proposal = await sent(first, 0)
  first.deliver(accepted('bot', proposed(proposal), 1), approval(proposal.id, 2), response(3))
  expect(await call).toMatchObject({ text: 'done', approvedBy: 'ana' })
  seat.close()
})

test('a decision that was taken while the line was down is found when it is back', async () => {
  const { first, seat, next } = await seated('mcp.proposal')
  const call = seat.call('tools/act')
  const proposal = await sent(first, 0)
  first.deliver(accepted('bot', proposed(proposal), 1))
  first.close(1006)
  const second = await next()
  expect(second.request).toMatchObject({ after: 1 })
  second.welcome({ ...may('mcp.proposal'), resume: { status: 'replaying', from: 2, to: 3 } })
  second.deliver(approval(proposal.id, 2), response(3))
  expect((await call).text).toBe('done')
  seat.close()
})

test('what was approved just in time counts, though the news comes late', async () => {
  const { first, seat } = await seated('mcp.proposal', 'mcp.withdraw')
  const call = seat.call('tools/act', {}, { approvalMs: 10 })
  const proposal = await sent(first, 0)
  first.deliver(accepted('bot', proposed(proposal), 1))
  const withdrawal = await sent(first, 1)
  expect(withdrawal).toMatchObject({ kind: Kind.mcpWithdraw, correlationId: proposal.id })
  const refusal = { code: 'proposal_not_found', message: 'it was used up' }
  first.deliver(fromGateway(Kind.systemError, refusal, { correlationId: withdrawal.id }))
  first.deliver(approval(proposal.id, 2), response(3))
  expect((await call).text).toBe('done')
  seat.close()
})

test('an answer to another proposal, or a withdrawal by somebody else, decides nothing', async () => {
  const { first, seat } = await seated('mcp.proposal', 'mcp.withdraw')
  const call = seat.call('tools/act')
  const proposal = await sent(first, 0)
  const about = (correlationId: string) => ({ correlationId, payload: { reason: 'no' } })
  first.deliver(
    accepted('bot', proposed(proposal), 1),
    accepted('ana', { id: 'x', kind: Kind.mcpReject, ...about('another') }, 2),
    accepted('ana', { id: 'y', kind: Kind.mcpWithdraw, ...about(proposal.id) }, 3),
    accepted('ana', { id: 'z', kind: Kind.mcpReject, ...about(proposal.id) }, 4),
  )
  const error: unknown = await call.catch((failure: unknown) => failure)
  expect(error).toBeInstanceOf(ProposalError)
  expect(error).toMatchObject({ outcome: { state: 'rejected', by: 'ana' } })
  seat.close()
})

test('what is granted on the way is used at once, and told', async () => {
  const { first, seat } = await seated('mcp.proposal')
  const changes: unknown[] = []
  seat.on('capabilities', (capabilities) => void changes.push(capabilities))
  const request = { kind: Kind.mcpRequest, to: ['tools'], payload: { method: 'tools/call' } }
  expect([seat.can(request), seat.capabilities]).toEqual([false, ['mcp.proposal']])
  first.welcome(may('mcp.proposal', 'mcp.request'))
  first.welcome({ ...may('mcp.proposal', 'mcp.request'), subscription: makeWelcome('bot').subscription })
  await eventually(() => expect(seat.can(request)).toBe(true))
  expect(changes).toEqual([['mcp.proposal', 'mcp.request']])
  const call = seat.call('tools/act').catch(() => {})
  expect(await sent(first, 0)).toMatchObject({ kind: Kind.mcpRequest })
  seat.close()
  await call
})

test('what is pruned is open no more, and nobody waits for it', async () => {
  const { first, seat } = await seated('*')
  const made = seat.propose({ to: 'tools', method: 'ping' })
  const own = await sent(first, 0)
  const other = { id: 'other', kind: Kind.mcpProposal, payload: { method: 'ping' } }
  first.deliver(accepted('bot', own, 1), accepted('ana', other, 2))
  const { outcome } = await made
  const pruned = (through: number, seq: number) =>
    accepted(
      'system:gateway',
      { id: `p${seq}`, kind: Kind.systemSpace, payload: { event: 'pruned', through } },
      seq,
    )
  first.deliver(pruned(1, 3))
  expect(await outcome).toEqual({ state: 'withdrawn', reason: 'pruned' })
  expect(seat.proposals.list().map(({ id }) => id)).toEqual(['other'])
  first.deliver(pruned(2, 4))
  expect(seat.proposals.list()).toEqual([])
  seat.close()
})

test('what is erased is open no more, and nobody waits for it', async () => {
  const { first, seat } = await seated('*')
  const made = seat.propose({ to: 'tools', method: 'ping' })
  const own = await sent(first, 0)
  const other = (id: string) => ({ id, kind: Kind.mcpProposal, payload: { method: 'ping' } })
  first.deliver(accepted('bot', own, 1), accepted('ana', other('a'), 2), accepted('ana', other('b'), 3))
  const { outcome } = await made
  const erased = (seq: number, id: string) => {
    const payload = { event: 'erased', seq, id, by: 'ana', reason: 'a password' }
    return accepted('system:gateway', { id: `e${seq}`, kind: Kind.systemSpace, payload }, seq + 3)
  }
  first.deliver(erased(1, own.id), erased(2, 'a'))
  expect(await outcome).toEqual({ state: 'withdrawn', reason: 'erased' })
  expect(seat.proposals.list().map(({ id }) => id)).toEqual(['b'])
  seat.close()
})

test('what was open in a log that is gone is open no more', async () => {
  const { first, seat, next } = await seated('*')
  const proposal = (id: string) => ({ id, kind: Kind.mcpProposal, payload: { method: 'ping' } })
  first.deliver(accepted('other', proposal('old'), 1))
  await eventually(() => expect(seat.proposals.list()).toHaveLength(1))
  first.close(1006)
  const second = await next()
  const space = { id: 'test', epoch: 'epoch-2', head: 1 }
  const participants = [{ id: 'other', kind: 'agent', capabilities: ['mcp'], status: 'present' as const }]
  second.welcome({ ...may('*'), space, participants, resume: { status: 'lost', from: 1, to: 1 } })
  second.deliver(accepted('other', proposal('new'), 1))
  expect(seat.proposals.list().map(({ id }) => id)).toEqual(['new'])
  seat.close()
  expect(seat.proposals.list()).toEqual([])
})
