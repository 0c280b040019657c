import type { OpenProposal } from '@meup/agent-sdk'
import { type Dial, type Settlement, SpaceClient } from '@meup/agent-sdk/internal'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { createTestGateway, dialInMemory, testToken } from '@meup/gateway/testing'
import type { Capability } from '@meup/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { eventually } from './support/eventually.js'
import { byKind, caughtUp, recordEnvelopes } from './support/record-envelopes.js'

const participants: Record<string, Capability[]> = {
  ana: ['*'],
  eve: ['*'],
  bot: ['mcp.proposal', 'reasoning.*', 'test.*'],
  tools: ['*'],
  free: ['*'],
}

/** A space in which ana approves proposals of bot. `asked`: params of the requests that `tools` received. */
async function cast() {
  const space = await createTestSpace({ participants })
  const [ana, bot, tools] = await Promise.all([space.join('ana'), space.join('bot'), space.join('tools')])
  const asked: unknown[] = []
  tools.serve(async ({ payload }) => {
    asked.push(payload.params)
    return { result: { content: [{ type: 'text', text: `${payload.method} done` }] } }
  })
  return { space, ana, bot, tools, asked, [Symbol.asyncDispose]: () => space.close() }
}

const act = { to: 'tools', method: 'tools/call', params: { name: 'act', arguments: { n: 1 } } }

/** Resolves with the next proposal that a client receives. */
const next = (seat: SpaceClient): Promise<OpenProposal> =>
  new Promise((resolve) => seat.proposals.once('proposal', resolve))

const settlement = (seat: SpaceClient): Promise<[OpenProposal, Settlement]> =>
  new Promise((resolve) => seat.proposals.once('settled', (...received) => resolve(received)))

const catchFailure = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.unreachable('it did not fail'),
    (error: Error) => error,
  )

describe('the proposals of a space', () => {
  test('are known as they come, with what there is to know', async () => {
    await using here = await cast()
    await using run = await here.bot.reason('sums')
    const coming = next(here.ana)
    const place = { context: run.context, correlationId: run.context, rationale: 'to be sure' }
    const expiresAt = new Date(Date.now() + 60_000).toISOString()
    const { id } = await here.bot.propose({ ...act, ...place, parallelGroup: 2, uses: 2, expiresAt })
    const proposal = await coming
    const { to, ...rest } = act
    expect(proposal).toEqual({
      ...{ ...rest, ...place, id, from: 'bot', to: [to], parallelGroup: 2, expiresAt },
      ...{ usesLeft: 2, rejectedBy: [], ts: expect.stringMatching(/Z$/) },
      seq: expect.any(Number),
    })
    expect(here.ana.proposals.list()).toEqual([proposal])
    expect(here.ana.proposals.get(id)).toEqual(proposal)
    expect(here.ana.proposals.get('other')).toBeUndefined()
  })

  test('of before are known to whoever asks for the past', async () => {
    await using here = await cast()
    const [open, over] = [await here.bot.propose(act), await here.bot.propose(act)]
    await over.withdraw('no need')
    const [late, blind] = [await here.space.join('eve', { tail: 100 }), await here.space.join('eve')]
    await eventually(() => expect(late.proposals.list()).toHaveLength(1))
    await caughtUp(here.ana, recordEnvelopes(late))
    expect(late.proposals.list().map(({ id }) => id)).toEqual([open.id])
    expect(blind.proposals.list()).toEqual([])
    await late.proposals.approve(open.id)
    expect(await open.outcome).toMatchObject({ state: 'approved', by: 'eve' })
  })

  test('are settled when they are carried out as often as was asked', async () => {
    await using here = await cast()
    const coming = next(here.ana)
    const { id } = await here.bot.propose({ ...act, uses: 2 })
    await coming
    const settled = settlement(here.ana)
    await here.ana.proposals.approve(id)
    expect(here.ana.proposals.get(id)).toMatchObject({ usesLeft: 1 })
    await here.ana.proposals.approve(id)
    const [proposal, how] = await settled
    expect(proposal).toMatchObject({ id, usesLeft: 0 })
    expect(how).toEqual({ state: 'approved', by: 'ana', requestId: expect.any(String) })
    expect(here.asked).toHaveLength(2)
    expect(here.ana.proposals.list()).toEqual([])
  })

  test('are settled when they are withdrawn or expire', async () => {
    await using here = await cast()
    const settled: unknown[] = []
    here.tools.proposals.on('settled', ({ id }, how) => settled.push([id, how]))
    const withdrawn = await here.bot.propose(act)
    await withdrawn.withdraw('no need')
    const soon = new Date(Date.now() + 1000).toISOString()
    const expiring = await here.bot.propose({ ...act, expiresAt: soon })
    await eventually(() =>
      expect(settled).toEqual([
        [withdrawn.id, { state: 'withdrawn', reason: 'no need' }],
        [expiring.id, { state: 'expired' }],
      ]),
    )
  })

  test('are settled when their proposer is kicked', async () => {
    await using here = await cast()
    const { id } = await here.bot.propose(act)
    await eventually(() => expect(here.ana.proposals.get(id)).toBeDefined())
    const over = settlement(here.ana)
    await here.ana.kick('bot')
    expect(await over).toMatchObject([{ id }, { state: 'withdrawn', reason: 'kicked' }])
    expect(here.ana.proposals.list()).toEqual([])
  })

  test('are forgotten, oldest first, before they are too many', async () => {
    await using here = await cast()
    const all = await Promise.all(Array.from({ length: 1001 }, () => here.bot.propose(act)))
    await eventually(() => expect(here.ana.proposals.get(all.at(-1)?.id ?? '')).toBeDefined())
    expect(here.ana.proposals.list()).toHaveLength(1000)
    expect(here.ana.proposals.get(all[0]?.id ?? '')).toBeUndefined()
    const params = { text: 'x'.repeat(250_000) }
    const heard = recordEnvelopes(here.ana)
    for (let n = 0; n < 40; n++) await here.bot.propose({ to: 'tools', method: 'tools/call', params })
    await caughtUp(here.bot, heard)
    const kept = here.ana.proposals.list()
    expect(kept.every((each) => each.params?.text === params.text)).toBe(true)
    expect(kept).toHaveLength(31)
  })
})

test('what a participant may decide is known before it decides', async () => {
  const act = { tool: 'tools/act' }
  const rights: Record<string, [Capability[], may: string]> = {
    ana: [['*'], 'approve, reject, always'],
    eve: [[act, 'mcp.reject'], 'approve, reject'],
    joe: [[act, 'capability.grant'], 'approve, always'],
    may: [[{ ...act, arguments: { n: 1 } }, 'capability.grant'], 'approve'],
    sam: [['mcp.reject', 'capability.grant'], ''],
  }
  const configured = Object.entries(rights).map(([id, [capabilities]]) => [id, capabilities])
  await using space = await createTestSpace({
    participants: { ...Object.fromEntries(configured), bot: ['*'], tools: [] },
  })
  const bot = await space.join('bot')
  const seats = await Promise.all(Object.keys(rights).map((id) => space.join(id)))
  const coming = Promise.all([bot, ...seats].map(next))
  const to = 'tools'
  const { id } = await bot.propose({ to, method: 'tools/call', params: { name: 'act', arguments: { n: 1 } } })
  await coming
  const mayDo = ({ proposals }: SpaceClient): string =>
    [
      proposals.mayApprove(id) && 'approve',
      proposals.mayReject(id) && 'reject',
      proposals.mayAllowAlways(id) && 'always',
    ]
      .filter(Boolean)
      .join(', ')
  expect(seats.map((seat) => [seat.id, mayDo(seat)])).toEqual(
    Object.entries(rights).map(([who, [, may]]) => [who, may]),
  )
  expect(mayDo(bot)).toBe('') // A participant cannot decide its own proposals.
  expect(seats[0]?.proposals.mayApprove('unknown')).toBe(false)
})

test('nobody pushes out what another proposes', async () => {
  await using here = await cast()
  const eve = await here.space.join('eve')
  const { id } = await here.bot.propose({ ...act, params: { text: 'x'.repeat(250_000) } })
  const heard = recordEnvelopes(here.ana)
  await Promise.all(Array.from({ length: 1000 }, () => eve.propose({ ...act, params: {} })))
  await caughtUp(eve, heard)
  expect(here.ana.proposals.list()).toHaveLength(1000)
  expect(here.ana.proposals.get(id)).toMatchObject({ from: 'bot' })
})

describe('approving', () => {
  test('makes the request of which it gives back the result', async () => {
    await using here = await cast()
    const heard = recordEnvelopes(here.ana)
    const [coming, call] = [next(here.ana), here.bot.call('tools/act', { n: 1 }, { why: 'to act' })]
    const { id } = await coming
    expect(await here.ana.proposals.approve(id)).toMatchObject({ content: [{ text: 'tools/call done' }] })
    expect((await call).text).toBe('tools/call done')
    const request = await heard.until(byKind('mcp.request'))
    expect(request).toMatchObject({ from: 'ana', to: ['tools'], correlationId: id })
    expect(request, 'the reason is the proposer’s').not.toHaveProperty('rationale')
    expect(request.payload).toMatchObject({ method: 'tools/call', params: act.params })
  })

  test('says the same as was proposed, to the number', async () => {
    const gateway = await createTestGateway({ participants })
    onTestFinished(() => gateway.close())
    const where = (id: string) => ({ space: 'test', token: testToken(id) })
    const dial: Dial = ({ url: _, ...request }, events) => dialInMemory(gateway, request, events)
    const ana = await SpaceClient.open(dial, { url: 'memory:', ...where('ana') })
    const deaf = { message: () => {}, close: () => {} }
    const bot = await dialInMemory(gateway, where('bot'), deaf)
    const frames: string[] = []
    await dialInMemory(gateway, where('tools'), { ...deaf, message: (text) => void frames.push(text) })
    const coming = next(ana)
    const params = '{"name":"act", "arguments":{"n":1.0,"e":1E2,"big":12345678901234567890,"t":"\\u0041"}}'
    const payload = `{"z":"params","par\\u0061ms":${params},"method":"tools/call"}`
    bot.send(`{"payload":${payload},"kind":"mcp.proposal","to":["tools"]}`)
    const approval = catchFailure(ana.proposals.approve((await coming).id))
    await eventually(() => expect(frames.at(-1)).toContain(`"method":"tools/call","params":${params}}`))
    ana.close()
    await approval
  })

  verifies(
    'M30',
    'a proposal that is based on reasoning is approved as any other, in its context',
    async () => {
      await using here = await cast()
      await using run = await here.bot.reason('what to do')
      const heard = recordEnvelopes(here.ana)
      const coming = next(here.ana)
      const proposal = await here.bot.propose({ ...act, correlationId: run.context, context: run.context })
      expect(await coming).toMatchObject({
        id: proposal.id,
        correlationId: run.context,
        context: run.context,
      })
      await here.ana.proposals.approve(proposal.id)
      expect(await proposal.outcome).toMatchObject({ state: 'approved', by: 'ana' })
      expect(await heard.until(byKind('mcp.request'))).toMatchObject({ context: run.context })
      expect(await heard.until(byKind('mcp.response'))).toMatchObject({ context: run.context })
    },
  )

  test('may say why, and fails as the tool fails', async () => {
    await using here = await cast()
    here.tools.serve(async () => ({ error: { code: -32000, message: 'out of order' } }))
    const heard = recordEnvelopes(here.ana)
    const coming = next(here.ana)
    await here.bot.propose({ ...act, rationale: 'please' })
    const failure = await catchFailure(
      here.ana.proposals.approve((await coming).id, { why: 'because I say so' }),
    )
    expect(failure).toMatchObject({ name: 'ToolError', code: -32000, message: 'out of order' })
    expect(await heard.until(byKind('mcp.request'))).toMatchObject({ rationale: 'because I say so' })
  })

  test('is refused to whoever may not make the request, comes too late, or has said no', async () => {
    await using here = await cast()
    const [eve, coming, toBot] = [await here.space.join('eve'), next(here.ana), next(here.bot)]
    const proposal = await here.bot.propose(act)
    const { id } = await coming
    await toBot
    expect(await catchFailure(here.bot.proposals.approve(id))).toMatchObject({ code: 'capability_violation' })
    const both = [here.ana.proposals.approve(id), eve.proposals.approve(id)]
    const results = await Promise.allSettled(both)
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(here.asked).toHaveLength(1)
    expect(await catchFailure(here.ana.proposals.approve(id))).toMatchObject({
      name: 'ProtocolError',
      code: 'proposal_not_found',
    })
    expect(await proposal.outcome).toMatchObject({ state: 'approved' })
  })

  test('goes on when no one waits for it any more', async () => {
    await using here = await cast()
    here.tools.serve(async (_, signal) => {
      await here.ana.chat('meanwhile')
      return { result: { content: [{ type: 'text', text: signal.aborted ? 'stopped' : 'finished' }] } }
    })
    const coming = next(here.ana)
    const proposal = await here.bot.propose(act)
    const { id } = await coming
    const stop = new AbortController()
    const approval = catchFailure(here.ana.proposals.approve(id, { signal: stop.signal }))
    await recordEnvelopes(here.ana).until(byKind('mcp.request'))
    stop.abort('enough')
    expect(await approval).toMatchObject({ code: 'aborted' })
    expect(await proposal.outcome).toMatchObject({
      state: 'approved',
      response: { result: { content: [{ text: 'finished' }] } },
    })
  })
})

describe('rejecting', () => {
  test('says why, and closes it for this participant alone', async () => {
    await using here = await cast()
    const [eve, coming] = [await here.space.join('eve'), next(here.ana)]
    const heard = recordEnvelopes(eve)
    const content = { kind: 'mcp.proposal', to: ['tools'], payload: { method: 'ping' } }
    const { id } = await here.bot.send(content) // Sent without `propose`, which would withdraw it after a rejection.
    await coming
    const settled = settlement(here.ana)
    await here.ana.proposals.reject(id, { reason: 'policy', message: 'ask eve' })
    const rejection = { state: 'rejected', by: 'ana', reason: 'policy', message: 'ask eve' }
    expect(await settled).toEqual([expect.objectContaining({ id, rejectedBy: ['ana'] }), rejection])
    expect(await catchFailure(here.ana.proposals.reject(id, { reason: 'again' }))).toMatchObject({
      code: 'proposal_not_found',
    })
    await caughtUp(here.ana, heard)
    expect(eve.proposals.get(id)).toMatchObject({ rejectedBy: ['ana'] })
    await eve.proposals.approve(id)
    expect(here.asked).toHaveLength(1)
  })
})
