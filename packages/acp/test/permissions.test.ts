import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { type Coder, listCalls, startCoder, usual } from './support/coder.js'

const clock = { tool: 'tool/clock' } as const
const own = { tool: 'coder/*' } as const
const rejected = { asked: 'c1', outcome: { outcome: 'selected', optionId: 'no' } }

/** A space with an agent that may call the tool `clock` of participant `tool`, and has listed its tools. */
async function startWithClock(capabilities = [...usual, clock]): Promise<Coder> {
  const coder = await startCoder({
    capabilities,
    participants: { tool: { kind: 'mcp', capabilities: ['*'] } },
  })
  const tool = await coder.space.join('tool')
  tool.tool('clock', {}, () => 'noon')
  await coder.ask(['space', 'tools/list'])
  return coder
}

/** The steps of an agent that asks for permission, and writes a file if it is allowed. */
const askedThenDone = (fields: object, path: string) =>
  [
    ['call', { toolCallId: 'c1', status: 'pending', ...fields }],
    ['ask', { toolCallId: 'c1', ...fields }],
    [
      'when',
      'yes',
      [
        ['write', path, 'done'],
        ['progress', { toolCallId: 'c1', status: 'completed' }],
      ],
      [['progress', { toolCallId: 'c1', status: 'failed' }]],
    ],
    ['text', 'Done.'],
  ] as const

describe('a permission is decided by the space, whatever the call says of itself', () => {
  const command = 'space_tool__clock || touch x'
  test.each([
    ['its title begins with a tool of the space', { title: command, kind: 'execute' }],
    ['its title is a tool of the space', { title: 'space_tool__clock', rawInput: { command: 'touch x' } }],
    ['its title ends as a tool of the space', { title: 'tool__clock (space MCP Server)' }],
    [
      'its name is a tool of the space',
      { name: 'mcp__space__tool__clock', title: 'x', rawInput: { command } },
    ],
    ['its arguments name the server', { title: 'x', rawInput: { command: 'touch x', server: 'space' } }],
    [
      'its arguments are those of a call of the server',
      { title: 'x', rawInput: { server: 'space', tool: 'tool__clock', arguments: {} } },
    ],
    ['its kind is harmless', { title: 'space_tool__clock', kind: 'read', rawInput: {} }],
  ])('a call is proposed where %s', async (_, fields) => {
    const { ana, ask, cwd, log, notes } = await startWithClock()
    const path = join(cwd, 'x')
    ana.proposals.on('proposal', ({ id }) => void ana.proposals.reject(id, { reason: 'policy' }))
    await ask(...askedThenDone(fields, path))
    expect(existsSync(path)).toBe(false)
    expect(notes()).toContainEqual(rejected)
    expect(log.filter(({ kind }) => kind === Kind.mcpProposal)).toMatchObject([{ to: ['coder'] }])
  })

  test('a call that has come to the server allows no other one', async () => {
    const { ana, ask, cwd, notes } = await startWithClock()
    const path = join(cwd, 'x')
    ana.proposals.on('proposal', ({ id }) => void ana.proposals.reject(id, { reason: 'policy' }))
    const use = ['space', 'tools/call', { name: 'tool__clock', arguments: {} }] as const
    await ask(use, ...askedThenDone({ title: 'space_tool__clock', rawInput: {} }, path))
    expect(existsSync(path)).toBe(false)
    expect(notes()).toContainEqual(rejected)
  })

  test('an agent that asks before it calls a tool of the space is not kept waiting, and is logged once for each', async () => {
    const { ask, log } = await startWithClock([...usual, clock, own])
    await ask(
      ['ask', { toolCallId: 'c1', title: 'space_tool__clock', rawInput: {} }],
      ['space', 'tools/call', { name: 'tool__clock', arguments: {} }],
      ['progress', { toolCallId: 'c1', status: 'completed' }],
      // The first call's arrival at the tool server must not be taken for an arrival of this second call.
      ['call', { toolCallId: 'c2', title: 'space_tool__clock', status: 'in_progress' }],
      ['progress', { toolCallId: 'c2', status: 'completed' }],
    )
    expect(listCalls(log)).toHaveLength(2)
    const toTool = log.filter(({ kind, to }) => kind === Kind.mcpRequest && to?.includes('tool'))
    expect(toTool.filter(({ payload }) => Object(payload).method === 'tools/call')).toHaveLength(1)
  })
})

describe('a call without a question', () => {
  test.each([
    ['no call has come', [], 'space_tool__clock', {}],
    ['another tool was called', [{ name: 'tool__list', arguments: {} }], 'space_tool__clock', {}],
    [
      'the tool was called with other arguments',
      [{ name: 'tool__clock', arguments: { zone: 'UTC' } }],
      'space_tool__clock',
      { zone: 'CET' },
    ],
    [
      'its title only begins as a tool that was called',
      [{ name: 'tool__clock', arguments: {} }],
      'space_tool__clock || touch x',
      {},
    ],
  ])('is one that was not asked for where %s', async (_, calls, title, rawInput) => {
    const { agent, ask } = await startWithClock()
    await ask(
      ...calls.map((call) => ['space', 'tools/call', call] as const),
      ['call', { toolCallId: 'c1', title, rawInput, status: 'in_progress' }],
      ['progress', { toolCallId: 'c1', status: 'completed' }],
      ['work', 20_000],
    )
    expect(await agent.ended).toMatchObject({ isFinal: true })
  })

  test('is not hidden by a call that came in another prompt', async () => {
    const { agent, ask } = await startWithClock()
    await ask(['space', 'tools/call', { name: 'tool__clock', arguments: {} }])
    await ask(
      ['call', { toolCallId: 'c1', title: 'space_tool__clock', status: 'in_progress' }],
      ['progress', { toolCallId: 'c1', status: 'completed' }],
      ['work', 20_000],
    )
    expect(await agent.ended).toMatchObject({ isFinal: true })
  })

  test('that failed before it ran is told, and is no call that was run', async () => {
    const { ask, log } = await startCoder()
    const content = [{ type: 'content', content: { type: 'text', text: 'InputValidationError: server' } }]
    expect(
      await ask(
        ['call', { toolCallId: 'c1', status: 'pending', rawInput: { command: 'ls', server: 'space' } }],
        [
          'progress',
          { toolCallId: 'c1', status: 'failed', content, rawOutput: 'InputValidationError: server' },
        ],
        ['text', 'Then not.'],
      ),
    ).toBe('Then not.')
    const errors = log.filter(({ payload }) => Object(payload).phase === 'error')
    expect(errors).toMatchObject([{ payload: { message: expect.stringContaining('failed before it ran') } }])
    expect(log.some(({ kind }) => kind === Kind.systemDecision)).toBe(false)
  })

  test.each([
    ['said that it ran', { status: 'in_progress' }, {}],
    ['has an exit code', {}, { rawOutput: { exitCode: 1 } }],
    [
      'has put out an exit code',
      {},
      { content: [{ type: 'content', content: { type: 'text', text: 'Exit code 2\nno' } }] },
    ],
    ['has changed a file', {}, { content: [{ type: 'diff', path: '/a', newText: 'b' }] }],
  ])('that failed and %s was run', async (_, begun, ended) => {
    const { agent, ask } = await startCoder()
    await ask(
      ['call', { toolCallId: 'c1', status: 'pending', rawInput: { command: 'ls' }, ...begun }],
      ['progress', { toolCallId: 'c1', status: 'failed', ...ended }],
      ['work', 20_000],
    )
    expect(await agent.ended).toMatchObject({ isFinal: true })
  })
})

describe('several ways to allow a call once are a choice', () => {
  const options = [
    { optionId: 'prod', kind: 'allow_once', name: 'Production' },
    { optionId: 'stage', kind: 'allow_once', name: 'Staging' },
    { optionId: 'no', kind: 'reject_once', name: 'Neither' },
  ]
  const question = { toolCallId: 'c1', title: 'Which environment?', rawInput: { command: 'deploy' } }
  const mayAsk = { kind: Kind.mcpRequest, payload: { method: 'elicitation/create' } } as const

  const usable = { capabilities: [...usual, own] }
  /** Waits for the proposals of `question`, one for each choice. */
  const proposed = async ({ seen }: Coder, ...choices: string[]) =>
    Promise.all(
      choices.map((choice) =>
        seen(Kind.mcpProposal, ({ payload }) => Object(payload).params.arguments.choice === choice),
      ),
    )

  test('that is proposed, one by one, where the asker cannot be asked: also with the capability nothing is chosen', async () => {
    const coder = await startCoder(usable)
    const asked = coder.ask(
      ['ask', question, options],
      ['progress', { toolCallId: 'c1', status: 'completed' }],
      ['text', 'Done.'],
    )
    const [, staging] = await proposed(coder, 'Production', 'Staging')
    expect(staging).toMatchObject({ rationale: 'Approve one of: Production, Staging' })
    await coder.ana.proposals.approve(staging?.id ?? '')
    expect(await asked).toBe('Done.')
    const outcome = { outcome: 'selected', optionId: 'stage' }
    expect(coder.notes()).toContainEqual({ asked: 'c1', outcome })
    expect(listCalls(coder.log)).toMatchObject([
      { by: 'ana', params: { arguments: { command: 'deploy', choice: 'Staging' } } },
    ])
    await coder.seen(Kind.mcpWithdraw)
    expect(coder.ana.proposals.list()).toEqual([])
  })

  test('that a grant does not make, and that is rejected where each way is', async () => {
    const coder = await startCoder()
    const asked = coder.ask(['ask', question, options], ['text', 'Then not.'])
    const proposals = await proposed(coder, 'Production', 'Staging')
    await coder.ana.grant('coder', [own])
    for (const { id } of proposals) await coder.ana.proposals.reject(id, { reason: 'policy' })
    expect(await asked).toBe('Then not.')
    expect(coder.notes()).toContainEqual(rejected)
  })

  test('of which ways with one name are told apart, and the same way twice is one', async () => {
    const coder = await startCoder()
    const yes = { kind: 'allow_once', name: 'Yes' }
    const ways = [
      { ...yes, optionId: 'a' },
      { ...yes, optionId: 'b' },
      { ...yes, optionId: 'a' },
    ]
    const asked = coder.ask(['ask', question, ways], ['text', 'Done.'])
    const [second] = await proposed(coder, 'Yes (b)', 'Yes (a)')
    await coder.ana.proposals.approve(second?.id ?? '')
    expect(await asked).toBe('Done.')
    expect(coder.notes()).toContainEqual({ asked: 'c1', outcome: { outcome: 'selected', optionId: 'b' } })
  })

  test('of which more than eight are rejected', async () => {
    const { ask, notes, seen } = await startCoder(usable)
    const many = Array.from({ length: 9 }, (_, at) => ({
      optionId: `${at}`,
      kind: 'allow_once',
      name: `n${at}`,
    }))
    await ask(
      ['ask', question, [...many, { optionId: 'no', kind: 'reject_once', name: 'No' }]],
      ['text', 'So.'],
    )
    expect(notes()).toContainEqual(rejected)
    expect(await seen(Kind.reasoningThought)).toMatchObject({
      payload: { phase: 'error', message: expect.stringContaining('n0, n1') },
    })
  })

  test.each([
    ['one with one for always', [options[0], { optionId: 'a', kind: 'allow_always', name: 'Always' }]],
    ['one with one of an unknown kind', [{ optionId: 'x', kind: 'allow_session', name: 'X' }, options[0]]],
  ])('but %s is none', async (_, ways) => {
    const { ask, notes } = await startCoder(usable)
    await ask(
      ['ask', question, ways],
      ['progress', { toolCallId: 'c1', status: 'completed' }],
      ['text', 'Ok.'],
    )
    expect(notes()).toContainEqual({ asked: 'c1', outcome: { outcome: 'selected', optionId: 'prod' } })
  })

  const refusals = [
    { optionId: 'yes', kind: 'allow_once', name: 'Yes' },
    { optionId: 'no', kind: 'reject_once', name: 'No' },
    { optionId: 'stage', kind: 'reject_once', name: 'No, use staging' },
  ]
  test.each<[message: string, outcome: object]>([
    ['no, use staging', { outcome: 'selected', optionId: 'stage' }],
    ['No', { outcome: 'selected', optionId: 'no' }],
    ['not today', { outcome: 'cancelled' }],
  ])('of several ways to reject the one is chosen that is named: %j', async (message, outcome) => {
    const { ana, ask, notes } = await startCoder()
    ana.proposals.on('proposal', ({ id }) => void ana.proposals.reject(id, { reason: 'policy', message }))
    await ask(['ask', question, refusals], ['text', 'Then not.'])
    expect(notes()).toContainEqual({ asked: 'c1', outcome })
  })

  test('that the asker makes, and that the space decides as it was made', async () => {
    const { ana, ask, log, notes } = await startCoder({ capabilities: [...usual, own, mayAsk] })
    ana.on('envelope', ({ id, kind, from, context, payload }) => {
      if (kind !== Kind.mcpRequest || payload.method !== 'elicitation/create') return
      const result = { action: 'accept', content: { choice: 'Staging' } }
      const about = { to: [from], correlationId: id, ...(context !== undefined && { context }) }
      void ana.send({
        kind: Kind.mcpResponse,
        ...about,
        payload: { jsonrpc: '2.0', id: payload.id ?? id, result },
      })
    })
    await ask(
      ['ask', question, options],
      ['progress', { toolCallId: 'c1', status: 'completed' }],
      ['text', 'Done.'],
    )
    expect(notes()).toContainEqual({ asked: 'c1', outcome: { outcome: 'selected', optionId: 'stage' } })
    expect(listCalls(log)).toMatchObject([
      { params: { arguments: { command: 'deploy', choice: 'Staging' } } },
    ])
  })
})

describe('a session that nobody opened', () => {
  const question = { toolCallId: 'c1', title: 'ls', rawInput: { command: 'ls' } }

  test('belongs to the prompt that runs: its permission is decided, its calls are logged, its text is a thought', async () => {
    const { ask, log, seen } = await startCoder({ capabilities: [...usual, own] })
    expect(
      await ask(
        [
          'elsewhere',
          'sub-agent',
          [
            ['ask', question],
            ['progress', { toolCallId: 'c1', status: 'completed' }],
            ['text', 'I have looked.\n'],
          ],
        ],
        ['text', 'Done.'],
      ),
    ).toBe('Done.')
    expect(listCalls(log)).toMatchObject([{ result: { structuredContent: { status: 'completed' } } }])
    expect(await seen(Kind.reasoningThought)).toMatchObject({ payload: { message: 'I have looked.' } })
  })

  test('is decided in a run of its own where several prompts run: of those who may read all of them', async () => {
    const { ana, log, seen, notes } = await startCoder()
    const other = ana.chat('[["work",20000]]')
    await seen(Kind.reasoningStart)
    const steps = [
      [
        'elsewhere',
        'sub-agent',
        [
          ['ask', question],
          ['progress', { toolCallId: 'c1', status: 'completed' }],
        ],
      ],
      ['text', 'Done.'],
    ]
    const asked = ana.ask(JSON.stringify(steps), { to: ['coder'] })
    const { id, context } = await seen(Kind.mcpProposal)
    await ana.proposals.approve(id)
    expect((await asked).text).toBe('Done.')
    expect(notes()).toContainEqual({ asked: 'c1', outcome: { outcome: 'selected', optionId: 'yes' } })
    const start = log.find((each) => each.kind === Kind.reasoningStart && context?.endsWith(`/${each.id}`))
    expect(start?.payload).toMatchObject({ message: expect.stringContaining('A sub-agent asks') })
    expect(listCalls(log)).toMatchObject([{ by: 'ana' }])
    await other
  })

  test('is given no permission where several private prompts run; the runs and the operator are told, but not of what', async () => {
    const { space, ana, seen, notes, lines, log } = await startCoder({
      capabilities: [...usual, own],
      participants: { bob: ['*'] },
    })
    const bob = await space.join('bob')
    await bob.chat('[["work",20000]]', { to: ['coder'] })
    await seen(Kind.reasoningStart)
    const asked = ana.ask(
      JSON.stringify([
        ['elsewhere', 'sub-agent', [['ask', question]]],
        ['text', 'Then not.'],
      ]),
      { to: ['coder'] },
    )
    expect((await asked).text).toBe('Then not.')
    expect(notes()).toContainEqual({ asked: 'c1', outcome: { outcome: 'cancelled' } })
    const errors = log.filter(({ payload }) => Object(payload).phase === 'error')
    expect(errors.length).toBeGreaterThan(0)
    expect(JSON.stringify(errors.map(({ payload }) => payload))).not.toContain('ls')
    expect(lines.join('\n')).toContain('sub-agent')
  })

  test.each<[how: string, first: readonly unknown[][], meta: object]>([
    ['its messages name the session', [], { _meta: { agent: { parentID: 's1' } } }],
    ['the session names it', [['update', { sessionUpdate: 'subagent_update', sessionId: 'sub-agent' }]], {}],
  ])('works for the prompt of the session that is known, where %s', async (_, first, meta) => {
    const { ana, log, seen } = await startCoder({ capabilities: [...usual, own] })
    const call = { ...question, ...meta }
    const steps = [
      ...first,
      [
        'elsewhere',
        'sub-agent',
        [
          ['ask', call],
          ['progress', { toolCallId: 'c1', status: 'completed' }],
        ],
      ],
      ['text', 'Done.'],
    ]
    await ana.chat('[["work",20000]]', { to: ['coder'] })
    await seen(Kind.reasoningStart)
    // Asks in the shared session while the agent is busy in the private one.
    const { text } = await ana.ask(JSON.stringify(steps))
    expect(text).toBe('Done.')
    const run = log.find(({ kind, to }) => kind === Kind.reasoningStart && to === undefined)
    const [request] = log.filter(({ kind, to }) => kind === Kind.mcpRequest && to?.includes('coder'))
    expect(request?.context).toBe(run?.id)
  })
})
