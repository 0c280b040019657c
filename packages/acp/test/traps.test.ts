import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { agentText, agentTexts } from '../src/errors.js'
import { listCalls, shell, startCoder, usual } from './support/coder.js'

const touch = { tool: 'coder/*' } as const
const text = (value: string) => ({ content: [{ type: 'content', content: { type: 'text', text: value } }] })

describe('what coding agents do', () => {
  test('a permission comes with no call before it, and nothing after a rejection', async () => {
    const { ana, ask, log } = await startCoder()
    ana.proposals.on('proposal', ({ id }) => void ana.proposals.reject(id, { reason: 'policy' }))
    expect(await ask(['ask', shell('c1', 'ls')], ['text', 'Then not.'])).toBe('Then not.')
    expect(log.filter(({ kind }) => kind === Kind.mcpReject)).toHaveLength(1)
    expect(listCalls(log)).toEqual([])
  })

  test('a status that goes backwards is no second call', async () => {
    const { ask, log } = await startCoder({ capabilities: [...usual, touch] })
    await ask(
      ['call', { ...shell('c1', 'ls'), status: 'in_progress' }],
      ['progress', { toolCallId: 'c1', status: 'pending' }],
      ['ask', { ...shell('c1', 'ls'), status: 'pending' }],
      ['progress', { toolCallId: 'c1', status: 'completed', ...text('a.txt') }],
      ['text', 'Done.'],
    )
    expect(listCalls(log)).toMatchObject([{ result: { content: [{ text: 'a.txt' }] } }])
  })

  test('a call without a final status is closed at the end of the prompt', async () => {
    const { ask, log, seen } = await startCoder({ capabilities: [...usual, touch] })
    await ask(['ask', shell('c1', 'ls')], ['text', 'Done.'])
    await seen(Kind.mcpResponse)
    expect(listCalls(log)).toMatchObject([
      { result: { isError: true, structuredContent: { status: 'unknown' } } },
    ])
  })

  test('an id that is used again is another call', async () => {
    const { ask, log } = await startCoder({ capabilities: [...usual, touch] })
    const once = (what: string) =>
      [
        ['call', { ...shell('c1', what), status: 'pending' }],
        ['ask', shell('c1', what)],
        ['progress', { toolCallId: 'c1', status: 'completed', ...text(what) }],
      ] as const
    await ask(...once('one'), ...once('two'), ['text', 'Done.'])
    expect(listCalls(log).map(({ result }) => result.content[0].text)).toEqual(['one', 'two'])
  })

  test('the same question twice has one decision', async () => {
    const { ana, ask, log, notes } = await startCoder()
    ana.proposals.on('proposal', ({ id }) => void ana.proposals.approve(id))
    await ask(
      ['parallel', [['ask', shell('c1', 'ls')]], [['ask', shell('c1', 'ls')]]],
      ['progress', { toolCallId: 'c1', status: 'completed' }],
      ['text', 'Done.'],
    )
    expect(log.filter(({ kind }) => kind === Kind.mcpProposal)).toHaveLength(1)
    expect(notes().filter(({ outcome }) => Object(outcome).optionId === 'yes')).toHaveLength(2)
  })

  test.each([
    ['none', []],
    ['allow_always alone', [{ optionId: 'a', kind: 'allow_always', name: 'Always' }]],
  ])('a permission whose options are %s is cancelled, and everyone reads it', async (_, options) => {
    const { ask, notes, seen } = await startCoder({ capabilities: [...usual, touch] })
    await ask(['ask', shell('c1', 'ls'), options], ['text', 'Then not.'])
    expect(notes()).toContainEqual({ asked: 'c1', outcome: { outcome: 'cancelled' } })
    expect(await seen(Kind.reasoningThought)).toMatchObject({ payload: { phase: 'error' } })
  })

  test('junk on stdout is told once and skipped; unknown requests are refused', async () => {
    const { ask, lines } = await startCoder()
    expect(await ask(['junk', 'Loading…'], ['junk', '{"a":1}'], ['request', 'fs/read_text_file'])).toBe(
      '-32601',
    )
    expect(lines.filter((line) => line.includes('not JSON-RPC'))).toHaveLength(1)
  })

  test('ten thousand pieces of text become one answer', async () => {
    const { ask } = await startCoder()
    expect(await ask(['flood', 10_000])).toHaveLength(10_000)
  })

  test('a plan is a thought that ticks off', async () => {
    const { ask, log } = await startCoder()
    const plan = (status: string) => ({
      sessionUpdate: 'plan',
      entries: [{ content: 'Read', priority: 'high', status }],
    })
    await ask(
      ['update', plan('pending')],
      ['update', plan('pending')],
      ['update', plan('completed')],
      ['text', 'Done.'],
    )
    expect(log.filter(({ kind }) => kind === Kind.reasoningThought).map(({ payload }) => payload)).toEqual([
      { message: '☐ Read', phase: 'plan', metadata: { plan: [{ content: 'Read', status: 'pending' }] } },
      { message: '☑ Read', phase: 'plan', metadata: { plan: [{ content: 'Read', status: 'completed' }] } },
    ])
  })

  test('a change stands in what is approved and in the result', async () => {
    const { ana, ask, log, seen } = await startCoder()
    const diff = { type: 'diff', path: '/a.txt', oldText: null, newText: 'new' }
    ana.proposals.on('proposal', ({ id }) => void ana.proposals.approve(id))
    await ask(
      ['ask', { toolCallId: 'c1', title: 'Write a.txt', kind: 'edit', content: [diff] }],
      ['progress', { toolCallId: 'c1', status: 'completed', content: [diff] }],
      ['text', 'Done.'],
    )
    const diffs = [{ path: '/a.txt', oldText: '', newText: 'new' }]
    expect(await seen(Kind.mcpProposal)).toMatchObject({
      payload: { params: { name: 'edit', arguments: { title: 'Write a.txt', diffs } } },
    })
    expect(listCalls(log)).toMatchObject([{ by: 'ana', result: { structuredContent: { diffs } } }])
  })

  test('a change that is too large for a proposal is rejected, and everybody reads why', async () => {
    const { ask, notes, seen } = await startCoder({ capabilities: [...usual, touch] })
    // A proposal may have at most 0.9 × `maxEnvelopeBytes`, which is 235,929 bytes; the call has more.
    await ask(
      ['ask', { ...shell('c1', 'x'), rawInput: { text: 'y'.repeat(240_000) } }],
      ['text', 'Then not.'],
    )
    expect(notes()).toContainEqual({ asked: 'c1', outcome: { outcome: 'selected', optionId: 'no' } })
    expect(await seen(Kind.reasoningThought)).toMatchObject({
      payload: { phase: 'error', message: expect.stringMatching(/^execute was not allowed: /) },
    })
  })

  test('a secret in a thought is masked', async () => {
    const { ask, seen } = await startCoder()
    await ask(['thought', 'The key is ghp_16C7e42F292c6912E7710c838347Ae178B4a.\n'], ['text', 'Done.'])
    expect(await seen(Kind.reasoningThought)).toMatchObject({
      payload: { message: expect.stringContaining('[redacted') },
    })
  })
})

describe('how a prompt ends', () => {
  test.each([
    ['max_tokens', 'limit of tokens'],
    ['max_turn_requests', 'limit of requests'],
    ['refusal', 'refused'],
  ])('%s concludes, and says so', async (reason, said) => {
    const { ask, seen } = await startCoder()
    expect(await ask(['text', 'So far.'], ['stop', reason])).toMatch(new RegExp(`^So far\\.\n\n.*${said}`))
    await seen(Kind.reasoningConclusion)
  })

  test('an error and an empty answer cancel the run, and the asker reads why', async () => {
    const { ask, log } = await startCoder()
    expect(await ask(['fail', 'the model is away'])).toContain('I could not answer: ')
    expect(await ask(['thought', 'Hm.'])).toBe(`I could not answer: ${agentTexts.no_answer}`)
    expect(log.filter(({ kind }) => kind === Kind.reasoningCancel)).toHaveLength(2)
  })

  test('an agent that exits in mid-permission: its proposal is withdrawn, and it is started again for the next question', async () => {
    const { ask, ana, seen } = await startCoder()
    const answer = await ask([
      'parallel',
      [['ask', shell('c1', 'ls')]],
      [
        ['sleep', 200],
        ['exit', 3],
      ],
    ])
    expect(answer).toBe(`I could not answer: ${agentText('ended', { reason: 'exit 3' })}`)
    const { id } = await seen(Kind.mcpProposal)
    await seen(Kind.mcpWithdraw)
    await expect(ana.proposals.approve(id)).rejects.toThrow()
    expect(await ask(['history'])).toBe('1')
  })

  test('a cancel ends it: the agent hears it, and what was asked is withdrawn', async () => {
    const { ana, log, notes, seen } = await startCoder()
    const question = JSON.stringify([['parallel', [['ask', shell('c1', 'ls')]], [['work', 20_000]]]])
    const { id } = await ana.chat(question, { to: ['coder'] })
    await seen(Kind.mcpProposal)
    await ana.send({ kind: Kind.chatCancel, to: ['coder'], correlationId: id })
    await seen(Kind.mcpWithdraw)
    await expect.poll(() => notes()).toContainEqual({ asked: 'c1', outcome: { outcome: 'cancelled' } })
    expect(notes()).toContainEqual({ cancelled: expect.any(String) })
    expect(listCalls(log)).toEqual([])
  })

  test('a tool that goes on after a cancel is killed with the agent', async () => {
    const { ana, ask, cwd, lines, seen } = await startCoder({ capabilities: [...usual, touch] })
    const path = join(cwd, 'late.txt')
    const { id } = await ana.chat(
      JSON.stringify([
        ['ask', shell('c1', 'slow')],
        ['progress', { toolCallId: 'c1', status: 'in_progress' }],
        ['sleep', 6000],
        ['write', path, 'late'],
      ]),
      { to: ['coder'] },
    )
    await seen(Kind.mcpRequest)
    await ana.send({ kind: Kind.chatCancel, to: ['coder'], correlationId: id })
    await expect.poll(() => lines.join('\n')).toContain('a tool went on after a cancel')
    expect(await ask(['text', 'Here again.'])).toBe('Here again.')
    await wait(100)
    expect(existsSync(path)).toBe(false)
  })

  test('a result that comes after a cancel says so', async () => {
    const { ana, log, seen } = await startCoder({ capabilities: [...usual, touch] })
    const { id } = await ana.chat(
      JSON.stringify([
        ['ask', shell('c1', 'slow')],
        ['work', 20_000],
        ['progress', { toolCallId: 'c1', status: 'completed', ...text('half') }],
      ]),
      { to: ['coder'] },
    )
    await seen(Kind.mcpRequest)
    await ana.send({ kind: Kind.chatCancel, to: ['coder'], correlationId: id })
    await seen(Kind.mcpResponse)
    expect(listCalls(log)).toMatchObject([{ result: { content: [{ text: 'half\n(after cancel)' }] } }])
  })
})

describe('sessions', () => {
  test('the next question waits, and is told so', async () => {
    const { ana, seen } = await startCoder()
    const first = ana.ask('[["work",500],["text","One."]]', { to: ['coder'] })
    const second = ana.ask('[["history"]]', { to: ['coder'] })
    expect(await seen(Kind.chatAcknowledge)).toMatchObject({ payload: { status: 'queued' } })
    expect((await first).text).toBe('One.')
    expect((await second).text).toBe('2')
  })

  test('who writes to it alone has a session of their own; the space shares one', async () => {
    const { space, ana } = await startCoder({ participants: { bob: ['*'] } })
    const bob = await space.join('bob')
    const count = '[["history"]]'
    expect((await ana.ask(count)).text).toBe('1')
    expect((await bob.ask(count)).text).toBe('2')
    expect((await ana.ask(count, { to: ['coder'] })).text).toBe('1')
    expect((await bob.ask(count, { to: ['coder'] })).text).toBe('1')
  })

  test('a private question is in no answer to somebody else', async () => {
    const { space, ana } = await startCoder({ participants: { bob: ['*'] } })
    const bob = await space.join('bob')
    expect(
      (await ana.ask('[["remember","the secret of ana"],["recall"]]', { to: ['coder'] })).text,
    ).toContain('secret')
    expect((await bob.ask('[["recall"]]', { to: ['coder'] })).text).toBe('nothing')
    expect((await bob.ask('[["recall"]]')).text).toBe('nothing')
  })

  test('two coding agents do not answer each other’s answers, tools or not', async () => {
    const script = [
      ['ask', shell('c1', 'ls')],
      ['progress', { toolCallId: 'c1', status: 'completed' }],
      ['text', 'And then?'],
    ]
    const coder = { capabilities: [...usual, touch], behaviour: { script } }
    const running = await startCoder({
      ...coder,
      participants: { other: [...usual, { tool: 'other/*' }] },
    })
    await running.join(coder, 'other')
    const first = await running.space.join('other')
    expect((await first.ask('Shall we begin?', { to: ['coder'] })).text).toBe('And then?')
    // `other` must not reply to the coder's answer. It handles messages in order, so such a reply would come before its reply
    // to ana.
    await running.ana.ask('well?', { to: ['other'] })
    const chats = running.log.filter(({ kind, from }) => kind === Kind.chat && from !== 'ana')
    expect(chats.map(({ from, to }) => [from, to])).toEqual([
      ['other', ['coder']],
      ['coder', ['other']],
      ['other', ['ana']],
    ])
  })

  test('is loaded again after a restart of the agent, or starts over and says so', async () => {
    const { ask, notes } = await startCoder({ behaviour: { session: { forgets: true } } })
    await ask(['exit', 1])
    expect(await ask(['said'])).toMatch(/^You were started again/)
    expect(notes().filter(({ opened }) => opened)).toHaveLength(3)
  })

  test('has the mode in which it asks', async () => {
    const modes = {
      currentModeId: 'auto',
      availableModes: [
        { id: 'auto', name: 'A' },
        { id: 'default', name: 'D' },
      ],
    }
    const { ana, notes } = await startCoder({ mode: 'default', behaviour: { session: { modes } } })
    expect(notes()).toContainEqual({ mode: 'default' })
    expect(await ana.requestStatus('coder')).toMatchObject({ agent: 'scripted 1', mode: 'default' })
  })
})

describe('the tools of the space', () => {
  test('are offered to the agent, called under its own name, and proposed where it may not', async () => {
    const { space, ana, ask, log } = await startCoder({
      capabilities: [...usual, { kind: 'mcp.request', to: 'files', payload: { method: 'tools/list' } }],
      participants: { files: { kind: 'mcp', capabilities: ['*'] } },
    })
    const files = await space.join('files')
    files.tool('list', { description: 'Lists files' }, () => 'a.txt')
    ana.proposals.on('proposal', ({ id }) => void ana.proposals.approve(id))
    expect(await ask(['space', 'tools/list'])).toContain('"name":"files__list"')
    expect(
      await ask(
        ['call', { toolCallId: 'c1', title: 'space_files__list', kind: 'other', status: 'in_progress' }],
        ['space', 'tools/call', { name: 'files__list', arguments: {} }],
        ['progress', { toolCallId: 'c1', status: 'completed' }],
        ['text', ' Done.'],
      ),
    ).toContain('Done.')
    const proposal = log.find(({ kind }) => kind === Kind.mcpProposal)
    expect(proposal).toMatchObject({ from: 'coder', to: ['files'], context: expect.any(String) })
    expect(listCalls(log)).toEqual([])
  })

  test('have names that every provider takes, each its own, also behind a prefix', async () => {
    const ids = ['files', 'one', 'one__two'] as const
    const { space, ask } = await startCoder({
      capabilities: [...usual, { tool: '*/*' }],
      participants: Object.fromEntries(ids.map((id) => [id, { kind: 'mcp', capabilities: ['*'] }])),
    })
    const [files, one, other] = await Promise.all(ids.map((id) => space.join(id)))
    for (const name of ['a/b', 'a.b', '查询天气', 'x'.repeat(80)]) files?.tool(name, {}, () => name)
    one?.tool('two__run', {}, () => 'the first')
    other?.tool('run', {}, () => 'the second')
    const listed = await ask(['space', 'tools/list'])
    const names = [...listed.matchAll(/"name":"([^"]*)"/g)].map(([, name = '']) => name)
    expect(new Set(names).size).toBe(6)
    for (const name of names) expect(name).toMatch(/^[A-Za-z_][\w-]{0,47}$/)
    const call = (name = '') => ask(['space', 'tools/call', { name, arguments: {} }])
    expect(await call('one__two__run')).toContain('the first')
    expect(await call(names.find((name) => /^one__two__run-/.test(name)))).toContain('the second')
  })

  test('a call that the agent shows and never makes is one that it did not ask for', async () => {
    const { space, agent, ask } = await startCoder({
      capabilities: [...usual, { tool: 'files/list' }],
      participants: { files: { kind: 'mcp', capabilities: ['*'] } },
    })
    const files = await space.join('files')
    files.tool('list', {}, () => 'a.txt')
    const asked = ask(
      ['space', 'tools/list'],
      ['call', { toolCallId: 'c1', title: 'space_files__list', status: 'in_progress' }],
      ['progress', { toolCallId: 'c1', status: 'completed' }],
      ['work', 20_000],
    )
    expect(await agent.ended).toMatchObject({ isFinal: true })
    expect(await asked).toContain('without asking')
  })
})

describe('at its start', () => {
  test.each([
    ['hangs', { command: 'no-such-agent' }, { code: 'cannot_start', details: { command: 'no-such-agent' } }],
    ['dies', { behaviour: { dies: 3 } }, { cause: { code: 'ended_at_once', details: { reason: 'exit 3' } } }],
    ['has no such folder', { cwd: '/no/such/folder' }, { code: 'cannot_start' }],
    [
      'has no such mode',
      {
        mode: 'ask',
        behaviour: { session: { modes: { currentModeId: 'a', availableModes: [{ id: 'a', name: 'A' }] } } },
      },
      { code: 'unknown_mode', details: { mode: 'ask', modes: ['a'] } },
    ],
  ])('an agent that %s is refused with the reason', async (_, options, error) => {
    await expect(startCoder(options)).rejects.toMatchObject(error)
  })

  test('withdraws what an earlier one left open, and answers what nobody answered', async () => {
    const { agent, ana, join: joinAgain, seen, log } = await startCoder()
    await ana.chat(JSON.stringify([['ask', shell('c1', 'ls')]]), { to: ['coder'] })
    const { id } = await seen(Kind.mcpProposal)
    await agent.close()
    await joinAgain()
    await expect(ana.proposals.approve(id)).rejects.toThrow()
    await expect(ana.call('coder/execute', {})).rejects.toThrow(agentText('own_tools', { agent: 'coder' }))
    expect(log.filter(({ kind }) => kind === Kind.mcpWithdraw)).toHaveLength(1)
  })
})
