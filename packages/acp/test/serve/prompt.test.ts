import type { ContentBlock } from '@agentclientprotocol/sdk'
import type { SpaceClient } from '@meup/agent-sdk'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { deferred } from '../../../agent-sdk/test/support/deferred.js'
import { next, stage, useTool } from '../support/stage.js'

test('a prompt is a chat to the agent, with the files that the client has read', async () => {
  const { editor, sessionId, coder, answer } = await stage()
  const asked = next(coder, Kind.chat)
  answer((turn) => turn.reply('done'))
  const blocks: ContentBlock[] = [
    { type: 'text', text: 'Why does' },
    { type: 'resource', resource: { uri: 'file:///repo/a.ts', text: 'const fence = "```"\n' } },
    { type: 'resource_link', uri: 'file:///repo/b.ts', name: 'b.ts' },
    { type: 'text', text: 'fail?' },
  ]
  expect(await editor.prompt(sessionId, blocks)).toEqual({ stopReason: 'end_turn' })
  const message =
    'Why does [a.ts](file:///repo/a.ts) [b.ts](file:///repo/b.ts) fail?\n\na.ts:\n````\nconst fence = "```"\n````'
  expect(await asked).toMatchObject({ from: 'ana', to: ['coder'], payload: { message, format: 'markdown' } })
  expect(editor.shown).toEqual(['says: done'])
})

test('thoughts, the plan, calls with their reasons and results, and the answer are shown in their order', async () => {
  const { editor, prompt, answer } = await stage()
  answer(async (turn) => {
    const run = await turn.reason('Let me see')
    const plan = [
      { content: 'read', status: 'completed' },
      { content: 'think', status: 'whatever' },
    ]
    await run.thought('', { phase: 'plan', metadata: { plan } })
    await run.call('files/read', { path: 'a' }, { why: 'to know it' })
    await run.conclude('That is it')
    await turn.reply('It holds something')
  })
  expect(await prompt('What does it hold?')).toEqual({ stopReason: 'end_turn' })
  expect(editor.shown).toEqual([
    'thinks: Let me see',
    'plan: read completed, think pending',
    'files/read {"path":"a"} in_progress: Why: to know it',
    '… completed: Why: to know it | what a holds',
    'thinks: That is it',
    'says: It holds something',
  ])
})

test('the plan that others make in the run does not replace the plan of the agent', async () => {
  const { editor, prompt, answer, ben } = await stage()
  answer(async (turn) => {
    const run = await turn.reason()
    await run.thought('', { phase: 'plan', metadata: { plan: [{ content: 'read', status: 'completed' }] } })
    await ben.send({
      kind: Kind.reasoningThought,
      context: run.context,
      payload: {
        message: 'I would write',
        phase: 'plan',
        metadata: { plan: [{ content: 'rm -rf', status: 'pending' }] },
      },
    })
    await turn.reply('done')
  })
  await prompt('Go')
  expect(editor.shown).toEqual(['plan: read completed', 'thinks: ben: I would write', 'says: done'])
})

test('an agent that gets the question from another one answers it', async () => {
  const { editor, prompt, answer, ben } = await stage()
  void ben.answer((turn) => turn.reply('It holds nothing'))
  answer((turn) => turn.handOver('ben', 'ben knows'))
  expect(await prompt('What does it hold?')).toEqual({ stopReason: 'end_turn' })
  expect(editor.shown).toEqual(['thinks: coder has handed this over to ben', 'says: It holds nothing'])
})

test('a call that fails, one that is refused, and one without a result at the end are shown as failed', async () => {
  const { editor, prompt, answer, ben } = await stage({
    participants: {
      ana: ['*', 'observe.targeted'],
      ben: ['*'],
      coder: ['chat', 'reasoning.*', { tool: 'files/fail' }, { kind: 'mcp.request', to: 'ben' }],
      files: ['mcp.*'],
    },
  })
  ben.serve(() => new Promise(() => {}))
  answer(async (turn) => {
    const run = await turn.reason()
    await run.call('files/fail', {}, { why: 'why not' }).catch(() => {})
    await run.call('files/write', { path: 'a' }, { why: 'it must be' }).catch(() => {})
    run.call('ben/think', {}, { why: 'who knows' }).catch(() => {})
    await run.thought('ben thinks')
    await turn.reply('no')
  })
  await prompt('Try')
  expect(editor.shown).toEqual([
    'files/fail {} in_progress: Why: why not',
    '… failed: Why: why not | the disk is full',
    expect.stringMatching(/^write \{"path":"a"\} in_progress: Why: it must be$/),
    expect.stringMatching(/^… failed: Why: it must be \| .*not allowed/),
    'ben/think {} in_progress: Why: who knows',
    'thinks: ben thinks',
    'says: no',
    '… failed: Why: who knows | there was no result when the turn ended',
  ])
})

test('a call has the kind that its tool says of itself, and the changes of files that came of it', async () => {
  const { editor, prompt, answer, space } = await stage({
    participants: { ana: ['*'], ben: ['*'], coder: ['*'], files: ['*'], shop: ['*'] },
  })
  const shop = await space.join('shop')
  const tools = [
    { name: 'look', annotations: { readOnlyHint: true } },
    { name: 'change', annotations: { destructiveHint: true } },
  ]
  const diffs = [
    { path: '/repo/a.ts', oldText: null, newText: 'token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"' },
  ]
  const listed = deferred()
  shop.serve(async ({ payload: { method } }) => {
    if (method === 'tools/list') {
      listed.resolve()
      return { result: { tools } }
    }
    await listed.promise
    return { result: { content: [], structuredContent: { diffs } } }
  })
  answer(async (turn) => {
    const run = await turn.reason()
    for (const tool of ['look', 'change']) await run.call(`shop/${tool}`, { diffs }, { why: 'so' })
    await turn.reply('done')
  })
  await prompt('Go')
  const kinds = editor.updates.flatMap((each) => ('toolCallId' in each ? [each.kind] : []))
  expect(kinds).toEqual(['other', 'read', 'edit', 'edit'])
  const done = editor.updates.findLast((each) => each.sessionUpdate === 'tool_call_update')
  const shown = { type: 'diff', path: '/repo/a.ts', newText: expect.stringMatching(/^token = "?\[redacted/) }
  expect(done).toMatchObject({
    kind: 'edit',
    content: [{ type: 'content' }, shown, shown],
  })
})

test("a call of an agent's own tool has the kind that it gives it", async () => {
  const { editor, prompt, answer, coder } = await stage({
    participants: { ana: ['*'], ben: ['*'], coder: ['*'], files: ['*'] },
  })
  answer(async (turn) => {
    const { context } = await turn.reason()
    const params = { name: 'bash', arguments: { command: 'npm test' }, _meta: { kind: 'execute' } }
    const payload = { jsonrpc: '2.0', method: 'tools/call', params }
    await coder.send({ kind: Kind.mcpRequest, to: ['coder'], context, payload })
    await turn.reply('done')
  })
  await prompt('Go')
  expect(editor.updates[0]).toMatchObject({
    sessionUpdate: 'tool_call',
    title: 'coder/bash',
    kind: 'execute',
  })
})

test('what others think in the run is shown with their names', async () => {
  const { editor, prompt, answer, ben } = await stage()
  answer(async (turn) => {
    const run = await turn.reason('Let us see')
    await ben.send({
      kind: Kind.reasoningThought,
      context: run.context,
      payload: { message: 'I would wait' },
    })
    await run.conclude()
    await turn.reply('yes')
  })
  await prompt('Well?')
  expect(editor.shown).toEqual(['thinks: Let us see', 'thinks: ben: I would wait', 'says: yes'])
})

test('thoughts that the agent hides are not shown', async () => {
  const { editor, prompt, answer } = await stage()
  answer(async (turn) => {
    const run = await turn.reason('Let me see')
    await run.hide()
    await run.thought('something private')
    await run.conclude()
    await turn.reply('yes')
  })
  await prompt('Well?')
  expect(editor.shown).toEqual(['thinks: Let me see', 'says: yes'])
})

describe('an answer as it is written', () => {
  /** Sends deltas as `[index, text]` and thoughts as plain texts, then the answer. */
  const write = async (
    coder: SpaceClient,
    parts: readonly (readonly [number, string] | string)[],
    answer: string,
  ) => {
    const { id } = await next(coder, Kind.chat)
    const about = { to: ['ana'], correlationId: id }
    const { id: context } = await coder.send({ kind: Kind.reasoningStart, correlationId: id })
    for (const part of parts) {
      if (typeof part === 'string')
        await coder.send({ kind: Kind.reasoningThought, context, payload: { message: part } })
      else coder.post({ kind: Kind.chatDelta, ...about, payload: { index: part[0], text: part[1] } })
    }
    await coder.send({ kind: Kind.chat, ...about, payload: { message: answer } })
  }

  test('is shown at once, and no part of it twice', async () => {
    const { editor, prompt, coder } = await stage()
    const parts: [number, string][] = [
      [0, 'Two'],
      [1, ' coins'],
      [0, 'Two'], // A sender repeats all deltas after one was lost.
      [1, ' coins,'],
    ]
    await Promise.all([prompt('How much?'), write(coder, parts, 'Two coins, please')])
    expect(editor.shown).toEqual(['says: Two', 'says:  coins', 'says: ,', 'says:  please'])
    const ids = editor.updates.map((each) => 'messageId' in each && each.messageId)
    expect(new Set(ids).size).toBe(1)
  })

  test('leaves what turns out to be no part of it as a message of its own, which is no thought again', async () => {
    const { editor, prompt, coder } = await stage()
    const parts = [[0, 'Let me look.'], [0, ''], 'Let me look.', [0, 'Two'], [0, 'Two coins']] as const
    await Promise.all([prompt('How much?'), write(coder, parts, 'Two coins')])
    expect(editor.shown).toEqual(['says: Let me look.', 'says: \n\nTwo', 'says:  coins'])
  })

  test('is shown when it is there after a part that is missing', async () => {
    const { editor, prompt, coder } = await stage()
    const parts = [
      [0, 'Two'],
      [2, ' please'],
    ] as const
    await Promise.all([prompt('How much?'), write(coder, parts, 'Two coins, please')])
    expect(editor.shown).toEqual(['says: Two', 'says:  coins, please'])
  })
})

test('an agent that cannot answer says so, and the turn ends', async () => {
  const { editor, prompt, answer } = await stage()
  answer(async (turn) => {
    await turn.reason('Let me see')
    throw new Error('no model')
  })
  expect(await prompt('Well?')).toEqual({ stopReason: 'end_turn' })
  expect(editor.said).toBe('I could not answer: no model')
})

test('an agent that gives up without a word ends the turn as well, whatever else is said', async () => {
  const { editor, prompt, coder, ben } = await stage()
  const asked = next(coder, Kind.chat)
  const prompted = prompt('Well?')
  const { id: correlationId } = await asked
  const { id: context } = await coder.send({ kind: Kind.reasoningStart, correlationId })
  await coder.send({ kind: Kind.reasoningCancel, context, payload: { reason: 'too late' } })
  const talk = setInterval(() => void ben.chat('something else'), 100)
  expect(await prompted).toEqual({ stopReason: 'end_turn' })
  clearInterval(talk)
  expect(editor.said).toBe('coder has given up: too late')
})

test('an agent that is gone for good ends the turn', async () => {
  const { editor, prompt, answer, coder } = await stage({
    reasoning: { abandonAfterMs: 50 },
  })
  answer(async (turn) => {
    await turn.reason('Let me see')
    coder.close()
  })
  expect(await prompt('Well?')).toEqual({ stopReason: 'end_turn' })
  expect(editor.said).toBe('coder stopped: it left and did not come back')
})

test('an agent whose program ends before it has begun a run fails the prompt', async () => {
  const { space, editor, sessionId } = await stage({
    participants: { ana: ['*'], ben: ['*'], coder: ['*'], files: ['*'], late: ['*'] },
  })
  const late = await space.join('late', { session: 's1' })
  const asked = next(late, Kind.chat)
  await editor.ask(sessionId, 'late')
  const prompted = editor.prompt(sessionId, 'Hello?')
  const rejected = expect(prompted).rejects.toMatchObject({
    message: expect.stringContaining('The program of late ended before an answer. Ask again.'),
  })
  await asked
  late.close()
  await rejected
})

test('an agent that is away is waited for, and its acknowledgement is shown', async () => {
  const { editor, space, sessionId } = await stage({
    participants: { ana: ['*'], ben: ['*'], coder: ['*'], files: ['*'], late: ['*'] },
  })
  await editor.ask(sessionId, 'late')
  const prompted = editor.prompt(sessionId, 'Hello?')
  await expect.poll(() => editor.shown).toEqual(['thinks: waiting for late to join'])
  void (await space.join('late')).answer(async (turn) => {
    await turn.acknowledge('queued')
    await turn.reply('here')
  })
  expect(await prompted).toEqual({ stopReason: 'end_turn' })
  expect(editor.shown.slice(1)).toEqual(['thinks: late: queued', 'says: here'])
})

test('a question that the space refuses fails the prompt, with why', async () => {
  const { prompt } = await stage({ ana: ['mcp.*'] })
  await expect(prompt('Well?')).rejects.toMatchObject({
    code: -32603,
    message: expect.stringContaining('not allowed'),
    data: { code: 'capability_violation' },
  })
})

test('secrets in arguments are masked as in every view', async () => {
  const { editor, prompt, answer } = await stage()
  answer(useTool('files/read', { path: 'a', password: 'swordfish' }, 'to know it'))
  await prompt('Read')
  expect(editor.shown[1]).toContain('{"path":"a","password":"[redacted]"}')
})
