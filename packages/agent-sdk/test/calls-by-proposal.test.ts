import { ConnectionError, type Proposal, ProposalError, type SpaceClient, ToolError } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import type { AnyEnvelope, Capability } from '@meup/protocol'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { deferred } from './support/deferred.js'
import { byKind, caughtUp, recordEnvelopes } from './support/record-envelopes.js'

/** Bot may send and withdraw proposals, and may send requests to `free` only. */
const participants: Record<string, Capability[]> = {
  ana: ['*'],
  bot: ['mcp.proposal', 'reasoning.*', 'test.*', { kind: 'mcp.request', to: 'free' }],
  tools: ['*'],
  free: ['*'],
  mute: ['chat'],
}

async function cast() {
  const space = await createTestSpace({ participants })
  const [ana, bot, tools] = await Promise.all([space.join('ana'), space.join('bot'), space.join('tools')])
  tools.tool('add', {}, (_, { request }) => {
    const { arguments: args } = request.payload.params as { arguments: { a: number; b: number } }
    return String(args.a + args.b)
  })
  return { space, ana, bot, tools, heard: recordEnvelopes(ana), [Symbol.asyncDispose]: () => space.close() }
}

const catchFailure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.unreachable('it was answered'),
    (error: unknown) => error,
  )

/** Approves a proposal without the SDK's method: sends the same request, correlated with the proposal. */
async function approveByHand(ana: SpaceClient, proposal: AnyEnvelope): Promise<void> {
  if (proposal.kind !== 'mcp.proposal') throw new TypeError(`${proposal.kind} is no proposal`)
  const { id: correlationId, to = [], payload } = proposal
  const { method, params } = payload
  await ana.send({ kind: 'mcp.request', to, correlationId, payload: { method, params } })
}

/** Fakes timers, which advance with real time and additionally when the test advances them. */
const takeOverTime = () =>
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
afterEach(() => void vi.useRealTimers())

const reject = (ana: SpaceClient, { id }: AnyEnvelope, payload: object) =>
  ana.send({ kind: 'mcp.reject', correlationId: id, payload })

describe('a call that its maker may not make', () => {
  test('is proposed, and gives back what the approved request brings', async () => {
    await using here = await cast()
    const call = here.bot.call('tools/add', { a: 1, b: 2 }, { why: 'to know the sum', parallelGroup: 4 })
    const proposal = await here.heard.until(byKind('mcp.proposal'))
    expect(proposal).toMatchObject({
      from: 'bot',
      to: ['tools'],
      rationale: 'to know the sum',
      parallelGroup: 4,
      payload: { method: 'tools/call', params: { name: 'add', arguments: { a: 1, b: 2 } } },
    })
    expect(proposal.payload).toMatchObject({ expiresAt: expect.stringMatching(/^\d{4}-.*Z$/) })
    await approveByHand(here.ana, proposal)
    expect(await call).toMatchObject({ text: '3', approvedBy: 'ana' })
    expect(here.heard.all.filter(byKind('mcp.proposal'))).toHaveLength(1)
    const requests = here.heard.all.filter(byKind('mcp.request'))
    expect(requests.map(({ from }) => from)).toEqual(['ana'])
  })

  test('stands in its run', async () => {
    await using here = await cast()
    await using run = await here.bot.reason('sums')
    const call = run.call('tools/add', { a: 1, b: 2 }, { why: 'to know', propose: true })
    const proposal = await here.heard.until(byKind('mcp.proposal'))
    expect(proposal.context).toBe(run.context)
    await approveByHand(here.ana, proposal)
    expect((await call).text).toBe('3')
  })

  test('that it may make is made', async () => {
    await using here = await cast()
    const free = await here.space.join('free')
    free.tool('look', {}, () => 'seen')
    const result = await here.bot.call('free/look')
    expect(result.text).toBe('seen')
    expect(result).not.toHaveProperty('approvedBy')
    expect(here.heard.all.filter(byKind('mcp.proposal'))).toEqual([])
  })

  test('is refused where it is not to be proposed, or may not be', async () => {
    await using here = await cast()
    const refused = { name: 'ProtocolError', code: 'capability_violation' }
    await expect(here.bot.call('tools/add', {}, { propose: false })).rejects.toMatchObject(refused)
    const mute = await here.space.join('mute')
    await expect(mute.call('tools/add')).rejects.toMatchObject(refused)
    await caughtUp(here.bot, here.heard)
    expect(here.heard.all.filter(byKind('mcp.proposal'))).toEqual([])
  })

  test('goes by MCP requests of every method', async () => {
    await using here = await cast()
    const listed = here.bot.request('tools', 'tools/list')
    await approveByHand(here.ana, await here.heard.until(byKind('mcp.proposal')))
    expect(await listed).toMatchObject({ tools: [{ name: 'add' }] })
  })

  test('hears of progress as if it had made the request', async () => {
    await using here = await cast()
    here.tools.tool('count', {}, async (_, { progress }) => {
      progress(1, 2, 'half')
      progress(2, 2)
      await here.ana.chat('a moment later')
      return 'counted'
    })
    const seen: unknown[] = []
    const call = here.bot.call('tools/count', {}, { onProgress: (progress) => void seen.push(progress) })
    await approveByHand(here.ana, await here.heard.until(byKind('mcp.proposal')))
    expect((await call).text).toBe('counted')
    expect(seen).toContainEqual({ progress: 2, total: 2 })
  })

  test('fails as the approved request fails', async () => {
    await using here = await cast()
    here.tools.tool('break', {}, () => {
      throw new Error('it broke')
    })
    const broken = catchFailure(here.bot.call('tools/break'))
    await approveByHand(here.ana, await here.heard.until(byKind('mcp.proposal')))
    expect(await broken).toMatchObject({ name: 'ToolError', message: 'it broke' })
    const before = here.heard.all.length
    const unknown = catchFailure(here.bot.request('tools', 'no/method'))
    const next = await here.heard.until(
      (e) => e.kind === 'mcp.proposal' && here.heard.all.indexOf(e) >= before,
    )
    await approveByHand(here.ana, next)
    const error = await unknown
    expect(error).toBeInstanceOf(ToolError)
    expect(error).toMatchObject({ code: -32601 })
  })
})

describe('a call that is not approved', () => {
  test('fails with the rejection, and is taken back so that nobody approves it later', async () => {
    await using here = await cast()
    const call = catchFailure(here.bot.call('tools/add', { a: 1, b: 2 }))
    const proposal = await here.heard.until(byKind('mcp.proposal'))
    await reject(here.ana, proposal, { reason: 'policy', message: 'not on a Friday' })
    const error = await call
    expect(error).toBeInstanceOf(ProposalError)
    expect(error).toMatchObject({
      message: 'rejected by ana: policy (not on a Friday)',
      proposalId: proposal.id,
      outcome: { state: 'rejected', by: 'ana', reason: 'policy', message: 'not on a Friday' },
    })
    const withdrawal = await here.heard.until(byKind('mcp.withdraw'))
    expect(withdrawal).toMatchObject({
      from: 'bot',
      correlationId: proposal.id,
      payload: { reason: 'rejected' },
    })
    await expect(approveByHand(here.tools, proposal)).rejects.toMatchObject({ code: 'proposal_not_found' })
  })

  test('fails when its time is over', async () => {
    takeOverTime()
    await using here = await cast()
    const call = catchFailure(here.bot.call('tools/add', {}, { approvalMs: 300_000 }))
    await here.heard.until(byKind('mcp.proposal'))
    await vi.advanceTimersByTimeAsync(200_000)
    await caughtUp(here.bot, here.heard)
    expect(here.heard.all.filter(byKind('mcp.withdraw'))).toEqual([])
    await vi.advanceTimersByTimeAsync(100_000)
    expect(await call).toMatchObject({
      name: 'ProposalError',
      message: 'the proposal was not approved in time',
      outcome: { state: 'expired' },
    })
  })

  test('fails when it is withdrawn', async () => {
    await using here = await cast()
    const received = deferred<Proposal>()
    const call = catchFailure(here.bot.call('tools/add', {}, { onProposal: received.resolve }))
    const proposal = await received.promise
    await proposal.withdraw('found it elsewhere')
    expect(await call).toMatchObject({
      message: 'withdrawn: found it elsewhere',
      outcome: { state: 'withdrawn', reason: 'found it elsewhere' },
    })
    expect(await proposal.outcome).toEqual({ state: 'withdrawn', reason: 'found it elsewhere' })
  })

  test('is withdrawn when it is aborted', async () => {
    await using here = await cast()
    const stop = new AbortController()
    const call = catchFailure(here.bot.call('tools/add', {}, { signal: stop.signal }))
    const { id } = await here.heard.until(byKind('mcp.proposal'))
    stop.abort('changed my mind')
    const error = await call
    expect(error).toBeInstanceOf(ConnectionError)
    expect(error).toMatchObject({ code: 'aborted', message: 'aborted: changed my mind' })
    expect(await here.heard.until(byKind('mcp.withdraw'))).toMatchObject({
      correlationId: id,
      payload: { reason: 'changed my mind' },
    })
  })

  test('is withdrawn when its run is interrupted', async () => {
    await using here = await cast()
    await using run = await here.bot.reason('sums')
    const call = catchFailure(run.call('tools/add', {}, { why: 'to know' }))
    await here.heard.until(byKind('mcp.proposal'))
    await here.ana.send({ kind: 'reasoning.cancel', context: run.context, payload: { reason: 'enough' } })
    expect(await call).toMatchObject({ message: 'aborted: interrupted by ana: enough' })
    await here.heard.until(byKind('mcp.withdraw'))
  })

  test('fails when the seat is left', async () => {
    await using here = await cast()
    const call = catchFailure(here.bot.call('tools/add'))
    await here.heard.until(byKind('mcp.proposal'))
    here.bot.close()
    expect(await call).toMatchObject({ name: 'ConnectionError', code: 'closed' })
  })

  test('waits for the response no longer than was said', async () => {
    await using here = await cast()
    here.tools.tool(
      'sleep',
      {},
      (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
    )
    const call = catchFailure(here.bot.call('tools/sleep', {}, { timeoutMs: 20 }))
    await approveByHand(here.ana, await here.heard.until(byKind('mcp.proposal')))
    expect(await call).toMatchObject({ name: 'ConnectionError', code: 'timeout' })
  })
})

describe('a proposal', () => {
  const sum = { to: 'tools', method: 'tools/call', params: { name: 'add', arguments: { a: 1, b: 2 } } }

  test('says what is wanted, how often and until when', async () => {
    await using here = await cast()
    const expiresAt = new Date(Date.now() + 60_000).toISOString()
    const place = { context: 'a/b', correlationId: 'question-1', rationale: 'to know', parallelGroup: 0 }
    const proposal = await here.bot.propose({ ...sum, ...place, uses: 3, expiresAt })
    const { method, params } = sum
    const envelope = await here.heard.until(byKind('mcp.proposal'))
    expect(envelope).toMatchObject({ id: proposal.id, ...place, to: ['tools'] })
    expect(envelope.payload).toEqual({ method, params, uses: 3, expiresAt })
  })

  test('tells who approved it, with which request, and the response', async () => {
    await using here = await cast()
    const proposal = await here.bot.propose(sum)
    await approveByHand(here.ana, await here.heard.until(byKind('mcp.proposal')))
    const request = await here.heard.until(byKind('mcp.request'))
    expect(await proposal.outcome).toEqual({
      state: 'approved',
      by: 'ana',
      requestId: request.id,
      responseId: (await here.heard.until(byKind('mcp.response'))).id,
      response: expect.objectContaining({ result: expect.objectContaining({ content: expect.anything() }) }),
    })
    await expect(proposal.withdraw()).rejects.toMatchObject({ code: 'proposal_not_found' })
  })

  test('that the space refuses is none', async () => {
    await using here = await cast()
    await expect(here.bot.propose({ ...sum, to: 'nobody' })).rejects.toMatchObject({
      code: 'participant_not_found',
    })
    const yesterday = new Date(Date.now() - 86_400_000).toISOString()
    await expect(here.bot.propose({ ...sum, expiresAt: yesterday })).rejects.toMatchObject({
      code: 'invalid_payload',
    })
  })

  test('that nobody withdraws for it expires all the same', async () => {
    takeOverTime()
    const only = { ...participants, bot: ['mcp.proposal'] }
    await using space = await createTestSpace({ participants: only })
    const bot = await space.join('bot')
    const proposal = await bot.propose({ ...sum, expiresAt: new Date(Date.now() + 300_000).toISOString() })
    await vi.advanceTimersByTimeAsync(300_000 + 1000) // One more second for approvals sent just before the expiry.
    expect(await proposal.outcome).toEqual({ state: 'expired' })
  })
})
