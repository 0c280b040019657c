import { hash } from 'node:crypto'
import { EventType } from '@ag-ui/client'
import { FakeClock } from '@meup/gateway/testing'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { asking } from '../../gateway/test/http-client.js'
import { call, conclude, result, thought } from '../../gateway/test/turns.js'
import { answer, beginTurn, Page, participants, propose, serveNext, stage, user } from './stage.js'

describe('a client of AG-UI', () => {
  test('asks the front desk where it names nobody', async () => {
    const { url, ben } = await stage({ participants: { ...participants, cem: ['*'] }, frontDesk: 'ben' })
    const page = new Page(url, 'ana')
    const run = page.run()
    const question = await beginTurn(ben)
    await ben.accepted(answer(question, 'here'))
    await run
    expect(page.shown.at(-1)).toBe('assistant here')
  })

  test('reads who has got the question, and the answer of that one', async () => {
    const { url, ben, connect } = await stage({ participants: { ...participants, cem: ['*'] } })
    const cem = await connect('cem')
    const page = new Page(url, 'ana')
    const run = page.run({ agent: 'ben' })
    const question = await beginTurn(ben)
    const { id: handed } = await ben.accepted({
      kind: Kind.chat,
      to: ['ana', 'cem'],
      correlationId: question,
      payload: { message: 'yours', mentions: ['cem'], handOver: true },
    })
    await ben.accepted(conclude('run'))
    const about = { to: ['ana', 'ben'], correlationId: [handed, question] }
    await cem.accepted({ ...answer(question, 'here it is'), ...about })
    await run
    expect(page.shown.slice(1)).toEqual([
      'reasoning how to do it',
      'reasoning ben has handed this over to cem',
      'assistant here it is',
    ])
    expect(page.events.at(-1)).toBe(EventType.RUN_FINISHED)
  })

  test('shows what an agent thinks, calls and answers, in order', async () => {
    const { url, ben, tool } = await stage()
    const page = new Page(url, 'ana')
    const running = page.run()
    const question = await beginTurn(ben)
    await ben.accepted(thought('run', 'first look'))
    const asked = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
    const given = { path: '/tmp', password: 'hush' }
    await ben.accepted(
      call('c1', 'run', 'look', 'to know', {
        payload: { ...asked, params: { name: 'look', arguments: given } },
      }),
    )
    await tool.accepted(result('c1', 'seen'))
    await ben.accepted(conclude('run'))
    const { id } = await ben.accepted(answer(question))
    await running
    expect(page.shown).toEqual([
      'user please do',
      'reasoning how to do it',
      'reasoning first look',
      'assistant look{"path":"/tmp","password":"[redacted]"}',
      'tool seen',
      'assistant done',
    ])
    expect(page.messages.at(-1)).toMatchObject({ id, name: 'ben' })
    const reasoning = ['START', 'MESSAGE_START', 'MESSAGE_CONTENT', 'MESSAGE_END', 'END']
    expect(page.events).toEqual([
      EventType.RUN_STARTED,
      ...[...reasoning, ...reasoning].map((part) => `REASONING_${part}`),
      ...['START', 'ARGS', 'END', 'RESULT'].map((part) => `TOOL_CALL_${part}`),
      ...['START', 'CONTENT', 'END'].map((part) => `TEXT_MESSAGE_${part}`),
      EventType.RUN_FINISHED,
    ])
  })

  test('asks in the name of its user, and the agent alone', async () => {
    const { url, ben } = await stage()
    const page = new Page(url, 'ana', [user('q1', 'before'), user('q2', 'please do')])
    const running = page.run({ agent: 'ben' })
    await ben.accepted(answer(await beginTurn(ben)))
    await running
    const { envelopes } = await asking(url, 'ana').history('kind=chat&from=ana')
    expect(envelopes).toMatchObject([{ to: ['ben'], payload: { message: 'please do' } }])
  })

  test('goes on with its thread: what was told before is not told again', async () => {
    const { url, ben } = await stage()
    const page = new Page(url, 'ana')
    const first = page.run()
    await ben.accepted(answer(await beginTurn(ben)))
    await first
    page.agent.addMessage(user('q2', 'and more'))
    const second = page.run()
    const { id } = await ben.next(({ payload }) => payload.message === 'and more')
    await ben.accepted(answer(id, 'more is done'))
    await second
    expect(page.shown).toEqual([
      'user please do',
      'reasoning how to do it',
      'assistant done',
      'user and more',
      'assistant more is done',
    ])
  })

  test('that went away gets the rest when it sends the same message again, and asks nothing twice', async () => {
    const { url, ben } = await stage()
    const page = new Page(url, 'ana')
    const first = page.run()
    const question = await beginTurn(ben)
    await expect.poll(() => page.shown).toContain('reasoning how to do it')
    page.leave()
    await first
    await ben.accepted(thought('run', 'still at it'))
    await ben.accepted(answer(question))
    const again = new Page(url, 'ana', page.messages)
    await again.run()
    expect(again.shown).toEqual([
      'user please do',
      'reasoning how to do it',
      'reasoning still at it',
      'assistant done',
    ])
    const { envelopes } = await asking(url, 'ana').history('kind=chat,chat.cancel&from=ana')
    expect(envelopes).toHaveLength(1)
  })

  test('may have its question taken back when it goes away', async () => {
    const { url, ben } = await stage()
    const page = new Page(url, 'ana')
    const running = page.run({ cancelOnDisconnect: true })
    const question = await beginTurn(ben)
    await expect.poll(() => page.shown).toContain('reasoning how to do it')
    page.leave()
    await running
    const cancel = await ben.next(({ kind }) => kind === 'chat.cancel')
    expect(cancel).toMatchObject({ from: 'ana', correlationId: question })
  })
})

describe('a proposal', () => {
  /** A run whose turn has an open proposal of ben. */
  async function interrupted(who = 'ana') {
    const staged = await stage()
    const { url, ben } = staged
    const page = new Page(url, who)
    const running = page.run()
    const question = await beginTurn(ben)
    await ben.accepted(propose('p1'))
    return { ...staged, page, question, running }
  }
  const approve = [{ interruptId: 'p1', status: 'resolved' as const, payload: { approved: true } }]
  const received = [
    'user please do',
    'reasoning how to do it',
    'assistant act{"amount":12,"apiKey":"[redacted]"}',
  ]

  test('interrupts the run; the next one approves it to the letter and goes on', async () => {
    const { url, ben, tool, page, question, running } = await interrupted()
    await running
    expect(page.agent.pendingInterrupts).toMatchObject([
      {
        id: 'p1',
        reason: 'tool_call',
        toolCallId: 'p1',
        message: expect.stringMatching(/^ben asks to call act\.\nWhy: "to do it"\n/),
      },
    ])
    expect(page.shown).toEqual(received)

    const served = serveNext(tool)
    const resumed = page.run({}, approve)
    await served
    await ben.accepted(answer(question))
    await resumed
    expect(page.shown).toEqual([...received, 'tool acted', 'assistant done'])
    expect(page.events.filter((type) => type === EventType.TOOL_CALL_START)).toEqual([])
    expect(page.agent.pendingInterrupts).toEqual([])
    const { envelopes } = await asking(url, 'ana').history('kind=mcp.request')
    expect(envelopes).toMatchObject([
      {
        from: 'ana',
        to: ['tool'],
        context: 'run',
        correlationId: 'p1',
        payload: { params: { arguments: { amount: 12, apiKey: 'hush' } } },
      },
    ])
    expect(envelopes[0], 'the reason is the proposer’s').not.toHaveProperty('rationale')
  })

  test('is approved by a client that keeps nothing: it is told what is new', async () => {
    const { url, ben, tool, question, running } = await interrupted()
    await running
    const page = new Page(url, 'ana')
    const served = serveNext(tool)
    const resumed = page.run({}, approve)
    await served
    await ben.accepted(answer(question))
    await resumed
    expect(page.shown).toEqual(['user please do', 'tool acted', 'assistant done'])
  })

  test('is approved even where somebody has taken ids that follow from what all can read', async () => {
    const { url, ben, tool, page, question, running, connect } = await interrupted()
    await running
    const eve = await connect('eve')
    for (const parts of [
      ['approve', 'ana', 'p1'],
      ['cancel', question],
    ]) {
      const id = `ag-ui-${hash('sha256', JSON.stringify(parts), 'base64url')}`
      await eve.accepted({ id, kind: 'chat', payload: { message: 'mine' } })
    }
    const served = serveNext(tool)
    const resumed = page.run({}, approve)
    await served
    await ben.accepted(answer(question))
    await resumed
    expect(page.shown).toEqual([...received, 'tool acted', 'assistant done'])
    expect((await asking(url, 'ana').history('kind=mcp.request')).envelopes).toHaveLength(1)
  })

  test('is carried out once, however often it is approved', async () => {
    const { url, ben, tool, page, question, running } = await interrupted()
    await running
    const served = serveNext(tool)
    const resumed = page.run({}, approve)
    await served
    await ben.accepted(answer(question))
    await resumed
    await page.run({}, approve)
    expect(page.shown).toEqual([...received, 'tool acted', 'assistant done'])
    expect((await asking(url, 'ana').history('kind=mcp.request')).envelopes).toHaveLength(1)
  })

  test.for([
    [{ status: 'resolved', payload: { approved: false, reason: 'too much' } }, 'too much'],
    [{ status: 'resolved', payload: { approved: false } }, 'not approved'],
    [{ status: 'cancelled' }, 'cancelled'],
  ] as const)('answered with %o is rejected', async ([answered, reason]) => {
    const { ben, page, question, running } = await interrupted()
    await running
    const resumed = page.run({}, [{ interruptId: 'p1', ...answered }])
    const refused = await ben.next(({ kind }) => kind === 'mcp.reject')
    expect(refused).toMatchObject({ from: 'ana', correlationId: 'p1', payload: { reason } })
    await ben.accepted(answer(question, 'then not'))
    await resumed
    expect(page.shown).toEqual([...received, `tool ${reason}`, 'assistant then not'])
  })

  test('that somebody else has approved meanwhile is not approved again', async () => {
    const { url, ben, tool, post, page, question, running } = await interrupted()
    await running
    const served = serveNext(tool)
    const { kind: _, ...fields } = propose('r1')
    await post('tool', { ...fields, kind: 'mcp.request', correlationId: 'p1' })
    await served
    const resumed = page.run({}, approve)
    await ben.accepted(answer(question))
    await resumed
    expect(page.shown).toEqual([...received, 'tool acted', 'assistant done'])
    expect((await asking(url, 'ana').history('kind=mcp.request')).envelopes).toMatchObject([{ id: 'r1' }])
  })

  test('that has expired does not interrupt', async () => {
    const clock = new FakeClock()
    const { url, ben } = await stage({ clock })
    const page = new Page(url, 'ana')
    const first = page.run()
    const question = await beginTurn(ben)
    const expiresAt = new Date(clock.now() + 1000).toISOString()
    const payload = { method: 'tools/call', params: { name: 'act' }, expiresAt }
    await ben.accepted(propose('p1', { payload }))
    await first
    expect(page.agent.pendingInterrupts).toMatchObject([{ id: 'p1', expiresAt }])
    clock.advance(1000)
    const again = new Page(url, 'ana')
    const second = again.run()
    await expect.poll(() => again.shown).toContain('assistant act{}')
    await ben.accepted(answer(question, 'too late'))
    await second
    expect(again.shown.slice(2)).toEqual(['assistant act{}', 'tool expired', 'assistant too late'])
  })

  test('that may be carried out again does not interrupt while it is carried out', async () => {
    const { url, ben, tool } = await stage()
    const page = new Page(url, 'ana')
    const running = page.run()
    const question = await beginTurn(ben)
    const payload = { method: 'tools/call', params: { name: 'act' }, uses: 2 }
    await ben.accepted(propose('p1', { payload }))
    await running
    const resumed = page.run({}, approve)
    await serveNext(tool)
    await ben.accepted(answer(question))
    await resumed
    expect(page.shown.slice(2)).toEqual(['assistant act{}', 'tool acted', 'assistant done'])
  })

  test('interrupts again where there is another one', async () => {
    const { ben, tool, page, running } = await interrupted()
    await running
    const served = serveNext(tool)
    const resumed = page.run({}, approve)
    await served
    await ben.accepted(propose('p2'))
    await resumed
    expect(page.agent.pendingInterrupts).toMatchObject([{ id: 'p2' }])
  })

  test('that the client may not approve does not interrupt: others decide', async () => {
    const { ben, tool, post, page, question, running } = await interrupted('eve')
    const served = serveNext(tool)
    const { kind: _, ...fields } = propose('r1')
    await post('ana', { ...fields, kind: 'mcp.request', correlationId: 'p1' })
    await served
    await ben.accepted(answer(question))
    await running
    expect(page.shown).toEqual([...received, 'tool acted', 'assistant done'])
  })
})
