import { createTestSpace } from '@meup/agent-sdk/testing'
import { type AnyEnvelope, isKind } from '@meup/protocol'
import { expect } from 'vitest'
import { byId, recordEnvelopes } from '../../packages/agent-sdk/test/support/record-envelopes.js'
import { chat, type Example, request, stage } from '../support/replay.js'
import { verifies } from '../verifies.js'

const context = 'reason-123'
const rich = (kind: string, payload: object): Example => ({
  context,
  kind: `reasoning.${kind}`,
  from: 'agent',
  payload,
})

/** The extended example of Option 4 in ADR-T8K: more kinds, with payloads of their own. */
const extended: Example[] = [
  chat('user', 'Should we deploy this code change that modifies the authentication system?'),
  rich('start', {
    goal: 'Evaluate deployment safety for auth system changes',
    triggered_by: 'user-request',
    approach: 'security-first analysis',
  }),
  rich('question', {
    questions: [
      'What specific auth components are modified?',
      'Are there breaking changes to the API?',
      'Have security tests passed?',
      'Is there a rollback plan?',
    ],
  }),
  rich('thought', { content: 'Need to check the diff and test results first' }),
  request('agent', 'git_diff', { context }, { files: 'auth/*' }),
  rich('observation', {
    content: 'Changes affect OAuth2 token validation and session management',
    severity: 'high',
    components: ['oauth2', 'sessions'],
  }),
  request('agent', 'test_results', { context }, { suite: 'security' }),
  rich('observation', {
    content: 'Security tests show 2 failures in token expiration handling',
    severity: 'critical',
    details: 'Tokens may not expire correctly under edge conditions',
  }),
  rich('hypothesis', {
    hypothesis: 'The code change introduces a regression in token expiration',
    confidence: 0.85,
    evidence: ['test_failures', 'oauth2_changes'],
  }),
  rich('thought', { content: 'Even with a rollback plan, deploying with known auth bugs is too risky' }),
  rich('conclusion', {
    decision: 'do_not_deploy',
    confidence: 0.92,
    key_factors: [
      'Failed security tests',
      'Critical auth components affected',
      'Token expiration regression',
    ],
    recommendation: 'Fix token expiration issues and re-test before deployment',
  }),
  chat('agent', 'I strongly recommend NOT deploying this change.', { correlationId: context }),
]

const proposal: Example = {
  kind: 'mcp.proposal',
  from: 'agent',
  correlationId: context,
  payload: {
    method: 'tools/call',
    params: {
      name: 'create_issue',
      arguments: { title: 'Fix token expiration regression before deployment', priority: 'critical' },
    },
  },
}

const withoutPlace = ({ seq: _, ts: __, protocol: ___, id: ____, ...envelope }: AnyEnvelope) => envelope

verifies('M29', 'richer kinds and payloads are relayed as they are', async () => {
  await using on = await stage('user', 'agent')
  const echoes = await on.play(...extended)
  expect(echoes.map(withoutPlace)).toEqual(extended)
  expect(on.heard.all.filter(({ from }) => from !== 'system:gateway')).toEqual(echoes)
  expect(on.heard.all.filter((e) => isKind(e, 'reasoning.hypothesis'))).toHaveLength(1)
})

verifies('M30', 'a proposal may be based on reasoning, and is approved like any other', async () => {
  await using on = await stage('user', 'agent')
  const echoes = await on.play(...extended, proposal)
  expect(withoutPlace(on.heard.all.at(-1) as AnyEnvelope)).toEqual(proposal)
  const run = await on.seat('agent').reason('the same in a run')
  const [based] = await on.play({ ...proposal, correlationId: run.context })
  expect(based).toMatchObject({ kind: 'mcp.proposal', correlationId: run.context, payload: proposal.payload })
  expect(echoes.at(-1)?.id).not.toBe(based?.id)

  const [user, { payload = {} }] = [on.seat('user'), proposal]
  for (const proposed of [echoes.at(-1), based]) {
    const approval = { kind: 'mcp.request', correlationId: proposed?.id ?? '', payload }
    const other = { ...approval, payload: { ...payload, params: { name: 'drop_table' } } }
    await expect(user.send(other)).rejects.toMatchObject({ code: 'forbidden' })
    await user.send(approval)
    await expect(user.send(approval)).rejects.toMatchObject({ code: 'proposal_not_found' })
  }
})

/**
 * Runs a conversation of a user that asks two questions and reads only the answers. `thinks`: whether the agent reasons before.
 */
async function converse(thinks: boolean): Promise<unknown[]> {
  await using space = await createTestSpace({ participants: { user: ['chat'], agent: ['*'], tools: ['*'] } })
  const [user, agent, tools] = await Promise.all(['user', 'agent', 'tools'].map((name) => space.join(name)))
  if (!user || !agent || !tools) throw new Error('three have joined')
  tools.tool('look', {}, () => 'rain')
  void agent.answer(async (turn) => {
    if (!thinks) {
      const { text } = await agent.call('tools/look')
      await turn.reply(`${turn.text}: ${text}`)
      return
    }
    await using run = await turn.reason('Looking it up', { metadata: { confidence: 0.2 } })
    await run.thought('The window would tell')
    const { text } = await run.call('tools/look', {}, { why: 'The window tells' })
    await run.conclude()
    await turn.reply(`${turn.text}: ${text}`)
  })
  const conversation: unknown[] = []
  for (const question of ['Weather today', 'Weather tomorrow']) {
    const heard = recordEnvelopes(user)
    const asked = await user.chat(question)
    conversation.push(question)
    const reply = await heard.until((e) => e.kind === 'chat' && e.correlationId === asked.id)
    conversation.push(reply.payload)
  }
  return conversation
}

verifies(
  'M33',
  'with and without reasoning, a client that ignores it has the same conversation',
  async () => {
    const conversation = [
      'Weather today',
      { message: 'Weather today: rain' },
      'Weather tomorrow',
      { message: 'Weather tomorrow: rain' },
    ]
    expect(await converse(false)).toEqual(conversation)
    expect(await converse(true)).toEqual(conversation)
  },
)

verifies('M33', 'kinds and payload fields that nobody knows yet are kept', async () => {
  await using on = await stage('user', 'agent')
  const examples: Example[] = [
    { kind: 'chat', from: 'user', payload: { message: 'hello', mood: 'curious', _x: { deep: [1, null] } } },
    { kind: 'reasoning.start', from: 'agent', id: 'run', payload: { message: 'hm', template: 'five-whys' } },
    { kind: 'reasoning.compressed', from: 'agent', context: 'run', payload: { ratio: 0.1, of: ['a', 'b'] } },
    { kind: 'reasoning.conclusion', from: 'agent', context: 'run', payload: { replay: { seed: 7 } } },
    { kind: 'weather.report', from: 'agent', payload: { sky: 'grey', chance: 0.4 } },
    { kind: 'lab.robot.arm', from: 'agent', context: 'bench/3', payload: {} },
  ]
  await on.play(...examples)
  const relayed = on.heard.all.filter(({ from }) => from !== 'system:gateway')
  expect(relayed.map(withoutPlace)).toEqual(examples.map(({ id: _, ...example }) => example))
  const again = recordEnvelopes(await on.latecomer())
  await again.until(byId(relayed.at(-1)?.id ?? ''))
  expect(again.all.filter(({ from }) => from !== 'system:gateway')).toEqual(relayed)
})
