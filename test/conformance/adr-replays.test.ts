import { contextMarkdown } from '@meup/folds'
import {
  type AnyEnvelope,
  answerFor,
  contextDepth,
  contextRoot,
  isContextAncestor,
  openedContext,
} from '@meup/protocol'
import { describe, expect } from 'vitest'
import { byId, byKind, recordEnvelopes } from '../../packages/agent-sdk/test/support/record-envelopes.js'
import { Conversation } from '../../packages/cli/src/render/conversation.js'
import { chat, conclusion, type Example, request, stage, start, thought } from '../support/replay.js'
import { verifies } from '../verifies.js'

const inside = (all: readonly AnyEnvelope[], root: string): AnyEnvelope[] =>
  all.filter(({ context }) => context !== undefined && contextRoot(context) === root)

const withoutPlace = ({ seq: _, ts: __, protocol: ___, ...envelope }: AnyEnvelope) => envelope

/** The run of the first flow in ADR-T8K. */
const context = 'msg-101'
const single: Example[] = [
  chat('user', 'Should we deploy this auth change?', { id: 'msg-100' }),
  start('agent', 'Analyzing deployment safety...', { id: 'msg-101', correlationId: 'msg-100' }),
  thought('agent', 'Need to check test results', { context }),
  request('agent', 'get_test_results', { context }),
  thought('agent', 'Security tests are failing - this is concerning', { context }),
  request('agent', 'check_rollback_plan', { context }),
  thought('agent', 'Even with rollback, auth failures are too risky', { context }),
  conclusion('agent', 'Deployment is unsafe due to test failures', { context }),
  chat('agent', 'I recommend against deploying.', { id: 'msg-108', correlationId: 'msg-100' }),
]

const sides = [
  { agent: 'security-agent', context: 'msg-201', answer: 'msg-210', tool: 'security_scan' },
  { agent: 'perf-agent', context: 'msg-202', answer: 'msg-211', tool: 'load_test' },
] as const
/** The envelopes of the second flow in ADR-T8K. */
const several: Example[] = [
  chat('user', 'Should we deploy this auth change?', { id: 'msg-200' }),
  ...sides.map(({ agent, context: id }) => start(agent, 'Looking...', { id, correlationId: 'msg-200' })),
  ...sides.flatMap(({ agent, context, tool }) => [
    thought(agent, 'A first look', { context }),
    request(agent, tool, { context }),
    thought(agent, 'A closer look', { context }),
    conclusion(agent, 'Done', { context }),
  ]),
  ...sides.map(({ agent, answer: id }) => chat(agent, 'My perspective', { id, correlationId: 'msg-200' })),
]

describe('the flows with the ids of the document', () => {
  verifies('M06', 'everything between msg-101 and msg-108 has the context msg-101', async () => {
    await using on = await stage('user', 'agent')
    await on.play(...single)
    const ids = on.heard.all.map(({ id }) => id)
    const between = on.heard.all.slice(ids.indexOf('msg-101') + 1, ids.indexOf('msg-108'))
    expect(between).toHaveLength(6)
    expect(between.every((envelope) => envelope.context === 'msg-101')).toBe(true)
  })

  verifies('M20', 'the answer is found from the context, and the other way round', async () => {
    await using on = await stage('user', 'agent', 'security-agent', 'perf-agent')
    await on.play(...single, ...several)
    const { all } = on.heard
    expect(answerFor('msg-101', all)?.id).toBe('msg-108')
    for (const { context, answer, agent } of sides) {
      expect(answerFor(context, all)).toMatchObject({ id: answer, from: agent })
      expect(answerFor(`${context}/deeper`, all)?.id).toBe(answer)
    }
    expect(answerFor('msg-100', all)).toBeUndefined()
    const { correlationId } = all.find(byId('msg-108')) ?? {}
    const runs = all.filter((e) => e.kind === 'reasoning.start' && e.correlationId === correlationId)
    expect(runs.map(({ id }) => id)).toEqual(['msg-101'])
  })

  verifies(
    'M20',
    'an observer may filter by context, and keeps what is said in the main conversation',
    async () => {
      await using on = await stage('user', 'security-agent', 'perf-agent', 'tools')
      const narrow = on.seat('tools')
      const heard = recordEnvelopes(narrow)
      await narrow.subscribe({ contexts: ['msg-201'] })
      await on.play(...several)
      await heard.until(byId('msg-211'))
      expect(inside(heard.all, 'msg-201')).toEqual(inside(on.heard.all, 'msg-201'))
      expect(inside(heard.all, 'msg-202').map(({ kind }) => kind)).toEqual(['mcp.request'])
      const main = heard.all.filter((e) => e.context === undefined && e.kind !== 'system.presence')
      expect(main.map(({ id }) => id)).toEqual(['msg-200', 'msg-201', 'msg-202', 'msg-210', 'msg-211'])
      for (const { context, answer } of sides) expect(answerFor(context, heard.all)?.id).toBe(answer)
    },
  )

  verifies('M07', 'a conclusion closes its context; what comes later is not lost', async () => {
    await using on = await stage('user', 'agent')
    const open = async () =>
      (await on.latecomer()).contexts.map((each) => [each.context, each.owner, each.state])
    await on.play(...single.slice(0, 2))
    expect(await open()).toEqual([['msg-101', 'agent', 'open']])
    await on.play(...single.slice(2, 7))
    expect(await open()).toEqual([['msg-101', 'agent', 'open']])
    await on.play(...single.slice(7))
    expect(await open()).toEqual([])
    const [late] = await on.play(thought('agent', 'Oh, and one more thing', { context }))
    expect(on.heard.all.at(-1)).toEqual(late)
    expect(await open()).toEqual([])
  })
})

verifies('M04', 'start and conclusion need no message, and no payload', async () => {
  await using on = await stage('agent-a')
  for (const payload of [undefined, {}, { message: '' }]) {
    const body = payload === undefined ? {} : { payload }
    const [opened] = await on.play({ kind: 'reasoning.start', from: 'agent-a', ...body })
    expect(opened?.payload).toEqual(payload ?? {})
    const id = opened?.id ?? ''
    const watcher = await on.latecomer()
    expect(watcher.contexts).toMatchObject([{ context: id, state: 'open' }])
    watcher.close()
    const [closed] = await on.play({ kind: 'reasoning.conclusion', from: 'agent-a', context: id, ...body })
    expect(closed?.payload).toEqual(payload ?? {})
  }
  expect(on.heard.all.filter(({ from }) => from === 'agent-a')).toHaveLength(6)
  expect((await on.latecomer()).contexts).toEqual([])
})

verifies('M13', 'a nested context closes without its parent, and work returns to the parent', async () => {
  await using on = await stage('user', 'agent')
  const nested: Example[] = [
    start('agent', 'Analyzing request', { id: 'msg-301', correlationId: 'msg-300' }),
    start('agent', 'Deep dive into security', { id: 'msg-302', context: 'msg-301' }),
    thought('agent', 'Checking permissions...', { context: 'msg-301/msg-302' }),
    conclusion('agent', 'Security check passed', { context: 'msg-301/msg-302' }),
    thought('agent', 'Security is fine, checking performance...', { context: 'msg-301' }),
  ]
  const open = async () => (await on.latecomer()).contexts.map((each) => each.context)
  await on.play(chat('user', 'Look into it', { id: 'msg-300' }), ...nested.slice(0, 3))
  expect(await open()).toEqual(['msg-301', 'msg-301/msg-302'])
  await on.play(...nested.slice(3))
  expect(await open()).toEqual(['msg-301'])
  const starts = on.heard.all.filter(byKind('reasoning.start')).map(openedContext)
  expect(starts.map(contextDepth)).toEqual([1, 2])
  expect(isContextAncestor('msg-301', starts[1] ?? '')).toBe(true)
  expect(inside(on.heard.all, 'msg-301').map((e) => e.context)).toEqual(nested.slice(1).map((e) => e.context))
  await on.play(conclusion('agent', 'All is well', { context: 'msg-301' }))
  expect(await open()).toEqual([])
})

verifies('M14', 'a start lists what it builds on, known to the space or not', async () => {
  await using on = await stage('user', 'agent')
  const payload = { message: 'Analyzing deployment', references: ['msg-380', 'msg-390'] }
  await on.play(chat('user', 'The report is in', { id: 'msg-380' }), {
    id: 'msg-401',
    kind: 'reasoning.start',
    from: 'agent',
    correlationId: 'msg-400',
    payload,
  })
  expect(on.heard.all.at(-1)?.payload).toEqual(payload)
  const run = await on.seat('agent').reason('Analyzing deployment', { references: payload.references })
  await on.heard.until(byId(run.context))
  expect(on.heard.all.at(-1)?.payload).toEqual(payload)
})

verifies('M15', 'others think along in a context: one tree, two authors, one thread', async () => {
  await using on = await stage('user', 'agent-a', 'agent-b')
  const context = 'msg-501'
  await on.play(
    chat('user', 'How fast is it?', { id: 'msg-500' }),
    { id: 'msg-501', kind: 'reasoning.start', from: 'agent-a', correlationId: 'msg-500' },
    thought('agent-a', 'I think we should check performance first', { id: 'msg-502', context }),
    thought('agent-b', 'Have you considered the cache?', {
      id: 'msg-503',
      context,
      correlationId: 'msg-502',
    }),
    thought('agent-a', 'Good point...', { id: 'msg-504', context, correlationId: 'msg-503' }),
    thought('agent-a', 'Cache impact is minimal', { id: 'msg-505', context }),
  )
  const tree = inside(on.heard.all, 'msg-501')
  expect(tree.map(({ id, from }) => [id, from])).toEqual([
    ['msg-502', 'agent-a'],
    ['msg-503', 'agent-b'],
    ['msg-504', 'agent-a'],
    ['msg-505', 'agent-a'],
  ])
  // The discussion as people read it: in an export, and in a terminal.
  expect(contextMarkdown('msg-501', tree).split('\n\n').slice(1)).toEqual([
    'agent-a [思考] I think we should check performance first',
    'agent-b [思考] to agent-a: Have you considered the cache?',
    'agent-a [思考] to agent-b: Good point...',
    'agent-a [思考] Cache impact is minimal\n',
  ])
  const terminal = new Conversation()
  expect(tree.flatMap((each) => terminal.lines(each))).toEqual([
    '  agent-a · I think we should check performance first',
    '  agent-b · ↳ agent-a: Have you considered the cache?',
    '  agent-a · ↳ agent-b: Good point...',
    '  agent-a · Cache impact is minimal',
  ])
  const { contexts } = await on.latecomer()
  expect(contexts).toMatchObject([{ context: 'msg-501', owner: 'agent-a', state: 'open' }])
})

verifies('M16', 'metadata is kept as it is, and never required', async () => {
  await using on = await stage('agent')
  const metadata = { approach: 'security-first', estimated_duration: '30s', confidence: 0.7 }
  const payload = { message: 'Analyzing request', metadata }
  await on.play({ id: 'msg-601', kind: 'reasoning.start', from: 'agent', correlationId: 'msg-600', payload })
  expect(on.heard.all.at(-1)?.payload).toEqual(payload)
  const run = await on.seat('agent').reason('Analyzing request', { metadata })
  await run.thought('getting there', { metadata: { confidence: 0.8, of: { any: ['depth'] } } })
  await run.conclude('done', { metadata: { confidence: 1 } })
  await on.heard.until((e) => e.kind === 'reasoning.conclusion' && e.context === run.context)
  const found = on.heard.all.flatMap((e) => ('metadata' in e.payload ? [e.payload.metadata] : []))
  expect(found).toEqual([metadata, metadata, { confidence: 0.8, of: { any: ['depth'] } }, { confidence: 1 }])
})

verifies('M28', 'a context with regular kinds alone groups them, and has no life of its own', async () => {
  await using on = await stage('agent')
  const context = 'reason-123'
  const examples = [
    chat('agent', "I'll analyze this"),
    chat('agent', 'Checking permissions...', { context }),
    request('agent', 'check_permissions', { context }),
    chat('agent', 'Permissions look good', { context }),
  ]
  const echoes = await on.play(...examples)
  expect(echoes.map(withoutPlace)).toEqual(examples.map((e) => ({ id: expect.any(String), ...e })))
  expect(inside(on.heard.all, 'reason-123')).toEqual(echoes.slice(1))
  const { contexts } = await on.latecomer()
  expect(contexts).toEqual([])
})
