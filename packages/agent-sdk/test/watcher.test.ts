import { type Dial, SpaceClient } from '@meup/agent-sdk/internal'
import { BaseClient, type DialRequest } from '@meup/agent-sdk/watch'
import { createTestGateway, dialInMemory, FakeClock, testToken } from '@meup/gateway/testing'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from './support/eventually.js'

/** A space with a person who observes an agent, and a tool that the agent may not call. */
async function scene(clock?: FakeClock) {
  const gateway = await createTestGateway({
    ...(clock && { clock }),
    participants: {
      ana: ['*'],
      eve: ['chat'],
      bot: ['reasoning.*', 'mcp.proposal'],
      tools: ['mcp.response'],
    },
  })
  onTestFinished(() => gateway.close())
  const dial: Dial = ({ url: _, ...request }, events) => dialInMemory(gateway, request, events)
  const where = (id: string): DialRequest => ({ url: 'memory:', space: 'test', token: testToken(id) })
  const watch = (id: string, how: Partial<DialRequest> = {}) =>
    BaseClient.open(dial, { ...where(id), ...how })
  const bot = await SpaceClient.open(dial, where('bot'))
  const tools = await SpaceClient.open(dial, where('tools'))
  tools.tool('act', {}, () => 'done')
  return { watch, bot }
}

test('a watcher hears and speaks, and knows what it may do', async () => {
  const { watch, bot } = await scene()
  const ana = await watch('ana')
  const heard: string[] = []
  ana.on('envelope', ({ from, kind }) => void heard.push(`${from} ${kind}`))
  await bot.reason('Looking')
  await ana.chat('Go on.')
  await eventually(() => expect(heard).toEqual(expect.arrayContaining(['bot reasoning.start', 'ana chat'])))
  expect([ana.can({ kind: 'mcp.request' }), (await watch('eve')).can({ kind: 'mcp.request' })]).toEqual([
    true,
    false,
  ])
})

test('a watcher decides what is proposed, also what was proposed before it came', async () => {
  const { watch, bot } = await scene()
  const call = bot.call('tools/act', {}, { why: 'it is time' })
  const early = await watch('ana')
  const late = await watch('ana', { tail: 100 })
  await eventually(() => expect(late.proposals.list()).toHaveLength(1))
  const [proposal] = late.proposals.list()
  expect(await late.proposals.approve(proposal?.id ?? '')).toMatchObject({ content: [{ text: 'done' }] })
  expect(await call).toMatchObject({ text: 'done', approvedBy: 'ana' })
  expect([early, late].map(({ proposals }) => proposals.list())).toEqual([[], []])
})

test('what has expired is told by the clock of the gateway, whatever that of this machine says', async () => {
  const hour = 3_600_000
  for (const ahead of [-hour, hour]) {
    const now = Date.now() + ahead
    const { watch, bot } = await scene(new FakeClock(now))
    const ana = await watch('ana')
    expect(ana.gatewayTime() - now).toBeLessThan(hour / 2)
    const expiresAt = new Date(now + hour / 2).toISOString()
    const act = { to: 'tools', method: 'tools/call', params: { name: 'act' }, expiresAt }
    const { id, outcome } = await bot.propose(act)
    await eventually(() => expect(ana.proposals.get(id)).toBeDefined())
    await ana.proposals.approve(id)
    expect(await outcome).toMatchObject({ state: 'approved', by: 'ana' })

    const call = bot.call('tools/act', {}, { why: 'it is time' })
    await eventually(() => expect(ana.proposals.list()).toHaveLength(1))
    const [proposal] = ana.proposals.list()
    expect(Date.parse(proposal?.expiresAt ?? '') - now).toBeLessThan(hour / 2)
    await ana.proposals.approve(proposal?.id ?? '')
    expect(await call).toMatchObject({ approvedBy: 'ana' })
  }
})

test('a watcher hides a run, shows it again, and asks its owner to stop', async () => {
  const { watch, bot } = await scene()
  const [ana, run] = [await watch('ana'), await bot.reason('Looking')]
  await ana.setVisibility(run.context, false)
  await eventually(() => expect(bot.runs).toMatchObject([{ reasoningVisible: false }]))
  await ana.setVisibility(run.context, true)
  await ana.interrupt(run.context, 'lunch')
  await eventually(() => expect(run.signal.reason).toBe('interrupted by ana: lunch'))
})

test('a watcher waits for nothing once it is closed', async () => {
  const { watch, bot } = await scene()
  const ana = await watch('ana')
  const { id } = await bot.propose({ to: 'eve', method: 'tools/call', params: { name: 'act' } })
  await eventually(() => expect(ana.proposals.get(id)).toBeDefined())
  const approving = expect(ana.proposals.approve(id)).rejects.toThrow('closed')
  ana.close()
  await approving
  expect(ana.proposals.list()).toEqual([])
  await expect(ana.chat('Are you there?')).rejects.toThrow('closed')
})
