import type { SpaceClient, Turn } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { type AnyEnvelope, answerFor, contextRoot, correlations, GATEWAY } from '@meup/protocol'
import { expect, test } from 'vitest'
import { deferred } from '../../packages/agent-sdk/test/support/deferred.js'
import { byKind, recordEnvelopes } from '../../packages/agent-sdk/test/support/record-envelopes.js'
import { Baton, shuffled } from '../support/baton.js'
import { asDocumented, gist } from '../support/documented.js'
import { times } from '../support/soak.js'
import { verifies } from '../verifies.js'

const anything = { agent: ['*'], user: ['*'], observer: ['*'], tools: ['*'] }
const question = 'Should we deploy this auth change?'
const answer =
  'I recommend against deploying. The security tests are failing and auth issues are too risky even with a rollback plan.'

/** Plays the agent of the single-agent flow. In ADR-T8K, requests have no `to`; in this test they are addressed to `tools`. */
async function reviewDeployment(turn: Turn): Promise<void> {
  await using run = await turn.reason('Analyzing deployment safety...')
  await run.thought('Need to check test results')
  await run.call('tools/get_test_results', {}, { why: 'The tests tell whether it is safe' })
  await run.thought('Security tests are failing - this is concerning')
  await run.call('tools/check_rollback_plan', {}, { why: 'A way back would lower the risk' })
  await run.thought('Even with rollback, auth failures are too risky')
  await run.conclude('Deployment is unsafe due to test failures')
  await turn.reply(answer)
}

/** Asks the agent, in a space with its tools. Returns what an observer received, through the answer. */
async function ask(work: (turn: Turn) => Promise<void>): Promise<AnyEnvelope[]> {
  await using space = await createTestSpace({ participants: anything })
  const [user, agent, tools] = await Promise.all(['user', 'agent', 'tools'].map((name) => space.join(name)))
  const heard = recordEnvelopes(await space.join('observer'))
  tools?.tool('get_test_results', {}, () => 'security: 2 failed').tool('check_rollback_plan', {}, () => 'yes')
  void agent?.answer(work)
  await user?.chat(question)
  await heard.until(({ kind, from }) => kind === 'chat' && from === 'agent')
  return [...heard.all]
}

verifies(
  'M09',
  'the single-agent flow: nine envelopes, in their order, contexts and correlations',
  async () => {
    const all = await ask(reviewDeployment)
    const [asked, start] = asDocumented(all)
    const [trigger, run] = [asked?.id, start?.id]
    expect(asDocumented(all).map((e) => [e.kind, e.from, e.context, e.correlationId, gist(e)])).toEqual([
      ['chat', 'user', undefined, undefined, question],
      ['reasoning.start', 'agent', undefined, trigger, 'Analyzing deployment safety...'],
      ['reasoning.thought', 'agent', run, undefined, 'Need to check test results'],
      ['mcp.request', 'agent', run, undefined, 'get_test_results'],
      ['reasoning.thought', 'agent', run, undefined, 'Security tests are failing - this is concerning'],
      ['mcp.request', 'agent', run, undefined, 'check_rollback_plan'],
      ['reasoning.thought', 'agent', run, undefined, 'Even with rollback, auth failures are too risky'],
      ['reasoning.conclusion', 'agent', run, undefined, 'Deployment is unsafe due to test failures'],
      ['chat', 'agent', undefined, trigger, answer],
    ])
    const others = all.filter((e) => !asDocumented(all).includes(e))
    const toolAnswers = others.filter(byKind('mcp.response'))
    expect(toolAnswers.map(({ from, to, context }) => [from, to, context])).toEqual([
      ['tools', ['agent'], run],
      ['tools', ['agent'], run],
    ])
    expect(others.filter((e) => !toolAnswers.includes(e)).every(({ from }) => from === GATEWAY)).toBe(true)
  },
)

verifies('M05', 'a run starts at top level, correlated to its trigger', async () => {
  const all = await ask(reviewDeployment)
  const [asked] = all.filter(byKind('chat'))
  const [start, ...more] = all.filter(byKind('reasoning.start'))
  expect(more).toEqual([])
  expect(start).not.toHaveProperty('context')
  expect(start?.correlationId).toBe(asked?.id)
})

verifies(
  'M06',
  'the id of the start is the context of everything up to the answer, of any kind',
  async () => {
    const all = (await ask(reviewDeployment)).filter(({ from }) => from !== GATEWAY)
    const start = all.findIndex(byKind('reasoning.start'))
    const between = all.slice(start + 1, -1)
    expect(new Set(between.map(({ kind }) => kind))).toEqual(
      new Set(['reasoning.thought', 'mcp.request', 'mcp.response', 'reasoning.conclusion']),
    )
    expect(new Set(between.map(({ context }) => context))).toEqual(new Set([all[start]?.id]))
  },
)

verifies(
  'M08',
  'the last envelope of a turn is a chat without context that answers the original',
  async () => {
    const all = asDocumented(await ask(reviewDeployment))
    const last = all.at(-1)
    expect(last).toMatchObject({ kind: 'chat', correlationId: all[0]?.id })
    expect(last).not.toHaveProperty('context')
  },
)

verifies('M31', 'the start is seen by others before the model has said a word', async () => {
  await using space = await createTestSpace({ participants: anything })
  const [user, agent, observer] = await Promise.all(
    ['user', 'agent', 'observer'].map((name) => space.join(name)),
  )
  if (!user || !agent || !observer) throw new Error('three have joined')
  const [heard, model] = [recordEnvelopes(observer), deferred<string>()]
  let answered = false
  void model.promise.then(() => {
    answered = true
  })
  void agent.answer(async (turn) => {
    await using run = await turn.reason()
    const text = await model.promise
    await run.conclude()
    await turn.reply(text)
  })
  const asked = await user.chat(question)
  const start = await heard.until(byKind('reasoning.start'))
  expect(start).toMatchObject({ from: 'agent', correlationId: asked.id, payload: {} })
  expect(answered).toBe(false)
  expect(asDocumented(heard.all).map(({ kind }) => kind)).toEqual(['chat', 'reasoning.start'])
  model.resolve('No.')
  const reply = await heard.until(({ kind, from }) => kind === 'chat' && from === 'agent')
  expect(gist(reply)).toBe('No.')
})

/** The two agents of the multi-agent flow, and the texts of their six steps. */
const views = {
  'security-agent': {
    start: 'Checking security implications...',
    first: 'Auth changes need careful review',
    tool: 'security_scan',
    second: 'Found vulnerabilities in token handling',
    conclusion: 'Security risk is too high',
    answer: 'Security perspective: Do not deploy. Critical vulnerabilities found in token handling.',
  },
  'perf-agent': {
    start: 'Analyzing performance impact...',
    first: 'Checking latency impact',
    tool: 'load_test',
    second: 'Minimal performance impact detected',
    conclusion: 'Performance is acceptable',
    answer: 'Performance perspective: Safe to deploy. Minimal impact on latency.',
  },
}
type Name = keyof typeof views
const names = Object.keys(views) as Name[]
const [security, perf] = names as [Name, Name]

function reviewInTurns(agent: SpaceClient, name: Name, baton: Baton): void {
  const view = views[name]
  const step = <Result>(work: () => Promise<Result>): Promise<Result> => baton.step(name, work)
  void agent.answer(async (turn) => {
    await using run = await step(() => turn.reason(view.start))
    await step(() => run.thought(view.first))
    await step(() => run.call(`tools/${view.tool}`, {}, { why: 'to know' }))
    await step(() => run.thought(view.second))
    await step(() => run.conclude(view.conclusion))
    await step(() => turn.reply(view.answer))
  })
}

/** Asks both agents. `order` determines how their steps interleave. */
async function askBoth(order: readonly string[]): Promise<AnyEnvelope[]> {
  const participants = Object.fromEntries(
    ['user', 'observer', 'tools', ...names].map((name) => [name, ['*']]),
  )
  await using space = await createTestSpace({ participants })
  const [user, tools, observer] = await Promise.all(
    ['user', 'tools', 'observer'].map((name) => space.join(name)),
  )
  if (!user || !tools || !observer) throw new Error('three have joined')
  const heard = recordEnvelopes(observer)
  const baton = new Baton(order)
  for (const name of names) {
    tools.tool(views[name].tool, {}, () => 'done')
    reviewInTurns(await space.join(name), name, baton)
  }
  await user.chat(question)
  for (const name of names) await heard.until(({ kind, from }) => kind === 'chat' && from === name)
  return [...heard.all]
}

function expectTwoTrees(all: readonly AnyEnvelope[]): void {
  const [asked] = all.filter(byKind('chat'))
  const starts = names.map((name) => all.find((e) => e.kind === 'reasoning.start' && e.from === name))
  expect(starts.map((start) => start && correlations(start))).toEqual([[asked?.id], [asked?.id]])
  for (const [index, name] of names.entries()) {
    const [own, other] = [starts[index]?.id ?? '', starts[1 - index]?.id]
    const tree = all.filter(({ context }) => context !== undefined && contextRoot(context) === own)
    const view = views[name]
    expect(asDocumented(tree).map((e) => [e.kind, e.from, e.context, gist(e)])).toEqual([
      ['reasoning.thought', name, own, view.first],
      ['mcp.request', name, own, view.tool],
      ['reasoning.thought', name, own, view.second],
      ['reasoning.conclusion', name, own, view.conclusion],
    ])
    expect(tree.every((e) => contextRoot(e.context ?? '') !== other)).toBe(true)
    const reply = answerFor(own, all)
    expect(reply).toMatchObject({ from: name, correlationId: asked?.id, payload: { message: view.answer } })
    expect(reply).not.toHaveProperty('context')
  }
  const inContexts = all.filter(({ context }) => context !== undefined)
  expect(new Set(inContexts.map(({ context }) => context))).toEqual(new Set(starts.map((start) => start?.id)))
}

const sixEach = names.flatMap((name) => Array<Name>(6).fill(name))

verifies('M10', 'two agents reason at once in the order of the document', async () => {
  const order = [security, perf, ...Array(4).fill(security), ...Array(4).fill(perf), security, perf]
  const all = await askBoth(order)
  const steps = asDocumented(all).filter(({ from }) => names.includes(from as Name))
  expect(steps.map(({ from }) => from)).toEqual(order)
  expect(steps.map(({ kind }) => kind)).toEqual([
    'reasoning.start',
    'reasoning.start',
    ...Array(2)
      .fill(['reasoning.thought', 'mcp.request', 'reasoning.thought', 'reasoning.conclusion'])
      .flat(),
    'chat',
    'chat',
  ])
  expectTwoTrees(all)
})

verifies('M10', 'two agents reason at once in any interleaving', async () => {
  const orders = Array.from({ length: times(8, 25) }, (_, seed) => shuffled(sixEach, seed))
  expect(new Set(orders.map(String)).size).toBeGreaterThan(orders.length - 3)
  for (const order of orders) {
    const all = await askBoth(order)
    const steps = asDocumented(all).filter(({ from }) => names.includes(from as Name))
    expect(steps.map(({ from }) => from)).toEqual(order)
    expectTwoTrees(all)
  }
})

test('a shuffle is the same for the same seed, and loses nothing', () => {
  expect(shuffled(sixEach, 7)).toEqual(shuffled(sixEach, 7))
  expect(shuffled(sixEach, 7)).not.toEqual(shuffled(sixEach, 8))
  expect(shuffled(sixEach, 7).sort()).toEqual([...sixEach].sort())
})
