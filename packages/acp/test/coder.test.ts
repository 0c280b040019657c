import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { listCalls, shell, startCoder } from './support/coder.js'

/** A command that runs if it is allowed: the agent reports the call, asks for permission, and reports the end. */
const run = (id: string, path: string) =>
  [
    ['call', { toolCallId: id, status: 'pending', rawInput: {} }],
    ['progress', { toolCallId: id, status: 'in_progress', rawInput: { command: `touch ${path}` } }],
    ['ask', { ...shell(id, `touch ${path}`), status: 'pending' }],
    [
      'when',
      'yes',
      [
        ['write', path, 'done'],
        [
          'progress',
          {
            toolCallId: id,
            status: 'completed',
            content: [{ type: 'content', content: { type: 'text', text: 'made it' } }],
            rawOutput: { metadata: { exit: 0 } },
          },
        ],
      ],
      [['progress', { toolCallId: id, status: 'failed' }]],
    ],
  ] as const

describe('a coding agent in a space', () => {
  test('thinks visibly, and its answer is shown as it is written', async () => {
    const { ask, log } = await startCoder()
    expect(await ask(['thought', 'I look at it.\n'], ['text', 'All '], ['text', 'is well.'])).toBe(
      'All is well.',
    )
    expect(log.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining([
        Kind.reasoningStart,
        Kind.reasoningThought,
        Kind.chatDelta,
        Kind.reasoningConclusion,
      ]),
    )
    expect(log.find(({ kind }) => kind === Kind.reasoningThought)?.payload).toMatchObject({
      message: 'I look at it.',
    })
    expect(log.find(({ kind }) => kind === Kind.reasoningConclusion)?.payload).toMatchObject({
      metadata: { tokens: { input: 3, output: 4 } },
    })
  })

  test('runs a tool that its capabilities allow without asking anybody', async () => {
    const capabilities = [
      'chat',
      'reasoning.*',
      { tool: 'coder/execute', arguments: { command: 're:touch .*' } },
    ]
    const { ask, cwd, log, notes } = await startCoder({ capabilities })
    const path = join(cwd, 'a.txt')
    expect(await ask(['text', 'I make it.'], ...run('c1', path), ['text', 'Done.'])).toBe('Done.')
    expect(existsSync(path)).toBe(true)
    expect(notes()).toContainEqual({ asked: 'c1', outcome: { outcome: 'selected', optionId: 'yes' } })
    expect(listCalls(log)).toEqual([
      {
        by: 'coder',
        params: {
          name: 'execute',
          arguments: { command: `touch ${path}` },
          _meta: { toolCallId: 'c1', title: `touch ${path}`, kind: 'execute' },
        },
        rationale: 'I make it.',
        result: {
          content: [{ type: 'text', text: 'made it' }],
          structuredContent: { status: 'completed', exitCode: 0 },
        },
      },
    ])
    expect(log.some(({ kind }) => kind === Kind.mcpProposal)).toBe(false)
  })

  test('has a person approve what it may not, and the call’s result answers that', async () => {
    const { ana, ask, cwd, log } = await startCoder()
    const path = join(cwd, 'a.txt')
    ana.proposals.on('proposal', ({ id }) => void ana.proposals.approve(id, { why: 'it is harmless' }))
    expect(await ask(...run('c1', path), ['text', 'Done.'])).toBe('Done.')
    expect(existsSync(path)).toBe(true)
    expect(listCalls(log)).toMatchObject([
      { by: 'ana', rationale: 'it is harmless', result: { content: [{ text: 'made it' }] } },
    ])
  })

  test('leaves undone what is rejected, and reads why at its next prompt', async () => {
    const { ana, ask, cwd, log, notes } = await startCoder()
    const path = join(cwd, 'a.txt')
    ana.proposals.on(
      'proposal',
      ({ id }) => void ana.proposals.reject(id, { reason: 'policy', message: 'not today' }),
    )
    expect(await ask(...run('c1', path))).toBe('I did not go on: execute was rejected by ana: not today.')
    expect(existsSync(path)).toBe(false)
    expect(notes()).toContainEqual({ asked: 'c1', outcome: { outcome: 'selected', optionId: 'no' } })
    expect(listCalls(log)).toEqual([])
    expect(await ask(['said'])).toMatch(/^execute was rejected by ana: not today\n/)
  })

  test('hears that nobody decided in time, and nobody can decide any more', async () => {
    const { ask, cwd, log, notes, ana, seen } = await startCoder({ approvalMs: 300 })
    const path = join(cwd, 'a.txt')
    expect(await ask(...run('c1', path), ['text', 'Then not.'])).toBe('Then not.')
    expect(existsSync(path)).toBe(false)
    expect(notes()).toContainEqual({ asked: 'c1', outcome: { outcome: 'cancelled' } })
    const { id } = await seen(Kind.mcpProposal)
    await expect(ana.proposals.approve(id)).rejects.toMatchObject({ code: 'proposal_not_found' })
    expect(listCalls(log)).toEqual([])
  })

  test('does what was still to be decided once a grant covers it', async () => {
    const { ana, ask, cwd, log, seen } = await startCoder()
    const path = join(cwd, 'a.txt')
    void seen(Kind.mcpProposal).then(() => ana.grant('coder', [{ tool: 'coder/execute' }]))
    expect(await ask(...run('c1', path), ['text', 'Done.'])).toBe('Done.')
    expect(existsSync(path)).toBe(true)
    expect(listCalls(log)).toMatchObject([
      { by: 'coder', result: { structuredContent: { status: 'completed' } } },
    ])
  })

  test('is stopped where it runs a tool without asking and without the capability, and everyone reads it', async () => {
    const { agent, ana, ask, seen, lines } = await startCoder()
    const asked = ask(
      ['call', { toolCallId: 'c1', status: 'in_progress', rawInput: { command: 'rm -rf /' } }],
      ['progress', { toolCallId: 'c1', status: 'completed' }],
      ['work', 20_000],
    )
    expect(await seen(Kind.systemDecision)).toMatchObject({
      payload: { reasonCode: 'capability_violation', attemptedTool: 'execute' },
    })
    expect(
      await seen(Kind.reasoningThought, ({ payload }) => Object(payload).phase === 'error'),
    ).toMatchObject({
      payload: { message: expect.stringContaining('rm -rf /') },
    })
    expect(await asked).toContain('without asking')
    expect(await agent.ended).toMatchObject({ isFinal: true, reason: expect.stringContaining('execute') })
    expect(lines.join('\n')).toContain('ran without asking')
    await expect.poll(() => ana.participants.find(({ id }) => id === 'coder')?.status).not.toBe('present')
  })

  test('goes on, logged, where its capabilities cover what it did not ask for', async () => {
    const { ask, log } = await startCoder({ capabilities: ['chat', 'reasoning.*', { tool: 'coder/*' }] })
    const read = { toolCallId: 'c1', title: 'a.txt', kind: 'read' }
    expect(
      await ask(
        ['call', { ...read, status: 'in_progress' }],
        ['progress', { toolCallId: 'c1', status: 'completed' }],
        ['text', 'Read.'],
      ),
    ).toBe('Read.')
    expect(listCalls(log)).toMatchObject([
      { by: 'coder', params: { name: 'read', arguments: { title: 'a.txt' } } },
    ])
  })

  test('goes on where that is only to be reported, and its answer is still the answer', async () => {
    const { ask, seen } = await startCoder({ unasked: 'report' })
    const read = { toolCallId: 'c1', title: 'a.txt', kind: 'read' }
    const steps = [
      ['call', { ...read, status: 'in_progress' }],
      ['progress', { toolCallId: 'c1', status: 'completed' }],
    ] as const
    expect(await ask(...steps, ['sleep', 300], ['text', 'Read.'])).toBe('Read.')
    const { payload } = await seen(Kind.chat, ({ from }) => from === 'coder')
    expect(payload).toMatchObject({ message: expect.stringContaining('{ tool: "coder/read" }') })
  })
})
