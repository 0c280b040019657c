import { ToolError } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { type Capability, PROTOCOL } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import { describe, expect, test, vi } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { deferred } from './support/deferred.js'
import { eventually } from './support/eventually.js'
import { byId, byKind, caughtUp, recordEnvelopes } from './support/record-envelopes.js'

const participants: Record<string, Capability[]> = {
  ana: ['*'],
  files: ['*'],
  more: ['*'],
  shy: ['mcp.request'],
}

/** A space with ana, and `files`, which offers tools. */
async function couple() {
  const space = await createTestSpace({ participants })
  const [ana, files] = await Promise.all([space.join('ana'), space.join('files')])
  return { space, ana, files, [Symbol.asyncDispose]: () => space.close() }
}

const toolError = (calling: Promise<unknown>): Promise<ToolError> =>
  calling.then(
    () => expect.unreachable('the tool did not fail'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(ToolError)
      return error as ToolError
    },
  )

describe('what a tool gives back', () => {
  test.each([
    ['text', 'plain', { content: [{ type: 'text', text: 'plain' }] }],
    ['an object', { n: 1 }, { content: [{ type: 'text', text: '{"n":1}' }], structuredContent: { n: 1 } }],
    ['a list', [1, 2], { content: [{ type: 'text', text: '[1,2]' }] }],
    ['a number', 42, { content: [{ type: 'text', text: '42' }] }],
    ['nothing', undefined, { content: [{ type: 'text', text: '' }] }],
    [
      'a whole MCP result',
      { content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }], _meta: { took: 3 } },
      { content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }], _meta: { took: 3 } },
    ],
  ])('%s', async (_, value, result) => {
    await using here = await couple()
    here.files.tool('give', {}, () => value)
    expect(await here.ana.request('files', 'tools/call', { name: 'give' })).toEqual(result)
  })

  test('is read as text, parts, content and data', async () => {
    await using here = await couple()
    const content = [
      { type: 'text', text: 'one' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'text', text: 'two' },
    ]
    here.files.tool('give', {}, () => ({ content, structuredContent: { n: 1 } }))
    expect(await here.ana.call('files/give')).toEqual({
      text: 'one\ntwo',
      parts: content,
      content,
      data: { n: 1 },
      id: expect.any(String),
    })
  })

  test('a result that says isError is a ToolError', async () => {
    await using here = await couple()
    here.files
      .tool('fail', {}, () => ({ content: [{ type: 'text', text: 'no such file' }], isError: true }))
      .tool('sulk', {}, () => ({ content: [], isError: true }))
    const error = await toolError(here.ana.call('files/fail'))
    expect(error).toMatchObject({ message: 'no such file', code: undefined })
    expect((await toolError(here.ana.call('files/sulk'))).message).not.toBe('')
  })

  test('a tool that throws fails alone, and goes on', async () => {
    await using here = await couple()
    let calls = 0
    here.files.tool('flaky', {}, async () => {
      if (calls++ === 0) throw new Error('out of paper')
      return 'printed'
    })
    expect((await toolError(here.ana.call('files/flaky'))).message).toBe('out of paper')
    expect((await here.ana.call('files/flaky')).text).toBe('printed')
  })

  test('what cannot be sent is an error, not silence', async () => {
    const limits = { maxEnvelopeBytes: 2000, maxResultBytes: 2000 }
    await using space = await createTestSpace({ participants, limits })
    const [ana, files] = await Promise.all([space.join('ana'), space.join('files')])
    files.tool('huge', {}, () => 'x'.repeat(3000))
    files.tool('odd', {}, () => ({ big: 1n }))
    expect(await toolError(ana.call('files/huge'))).toMatchObject({ code: -32603 })
    expect((await toolError(ana.call('files/odd'))).message).toContain('BigInt')
  })
})

describe('the MCP of a participant', () => {
  test('tools/list describes what is offered', async () => {
    await using here = await couple()
    const input = Type.Object({ path: Type.String({ description: 'of the file' }) })
    here.files.tool('read', { description: 'reads a file', input }, () => '').tool('now', {}, () => '')
    expect(await here.ana.request('files', 'tools/list')).toEqual({
      tools: [
        {
          name: 'read',
          description: 'reads a file',
          inputSchema: {
            type: 'object',
            required: ['path'],
            properties: { path: { type: 'string', description: 'of the file' } },
          },
        },
        { name: 'now', inputSchema: { type: 'object', properties: {} } },
      ],
    })
  })

  test('introduces itself to those who ask', async () => {
    await using here = await couple()
    here.files.tool('echo', {}, () => 'x')
    const asked = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    expect(await here.ana.request('files', 'initialize', asked)).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'files', version: PROTOCOL },
    })
  })

  test('answers ping, and says what it does not know', async () => {
    await using here = await couple()
    here.files.tool('now', {}, () => '')
    expect(await here.ana.request('files', 'ping')).toEqual({})
    expect(await toolError(here.ana.call('files/then'))).toMatchObject({
      code: -32602,
      message: expect.stringContaining('then'),
    })
    expect(await toolError(here.ana.request('files', 'prompts/list'))).toMatchObject({
      code: -32601,
      message: expect.stringContaining('prompts/list'),
    })
  })

  test('answers no notification', async () => {
    await using here = await couple()
    const heard = recordEnvelopes(here.ana)
    const [method, params] = ['notifications/initialized', { requestId: 'nothing' }]
    await here.ana.send({ kind: 'mcp.request', to: ['files'], payload: { method } })
    await here.ana.send({
      kind: 'mcp.request',
      to: ['files'],
      payload: { method: 'notifications/cancelled', params },
    })
    await here.ana.request('files', 'ping')
    await caughtUp(here.files, heard)
    expect(heard.all.filter(byKind('mcp.response'))).toHaveLength(1)
  })

  test('a tool is offered once', async () => {
    await using here = await couple()
    here.files.tool('now', {}, () => '')
    expect(() => here.files.tool('now', {}, () => '')).toThrow(/now/)
  })

  test('two calls run at once', async () => {
    await using here = await couple()
    const [one, two] = [deferred(), deferred()]
    here.files.tool('meet', { input: Type.Object({ first: Type.Boolean() }) }, async ({ first }) => {
      if (!first) one.resolve()
      else two.resolve()
      await (first ? one : two).promise
      return String(first)
    })
    const calls = [true, false].map((first) => here.ana.call('files/meet', { first }))
    expect((await Promise.all(calls)).map(({ text }) => text)).toEqual(['true', 'false'])
  })

  test('an answer that comes too fast for the space is given a little later', async () => {
    const limits = { rates: { mcp: { perSecond: 100, burst: 2 } } }
    await using space = await createTestSpace({ participants, limits })
    const [ana, more, files] = await Promise.all(['ana', 'more', 'files'].map((name) => space.join(name)))
    files?.tool('now', {}, () => 'now')
    const calls = [ana, ana, more, more].map((seat) => seat?.call('files/now'))
    expect((await Promise.all(calls)).map((result) => result?.text)).toEqual(Array(4).fill('now'))
  })

  test('a response that its sender may not send is reported to whoever listens', async () => {
    await using space = await createTestSpace({ participants })
    const [ana, shy] = await Promise.all([space.join('ana'), space.join('shy')])
    shy.tool('now', {}, () => 'now')
    // Without `to`: if the request were addressed to shy, shy could respond without a capability.
    const ask = () =>
      ana.send({
        kind: 'mcp.request',
        payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'now' } },
      })
    const received = new Promise<unknown[]>((resolve) => shy.once('requestError', (...all) => resolve(all)))
    await ask()
    expect(await received).toMatchObject([
      { code: 'capability_violation' },
      { kind: 'mcp.request', from: 'ana' },
    ])
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    await ask()
    await eventually(() => expect(printed).toHaveBeenCalledOnce())
    printed.mockRestore()
  })
})

describe('a request to everyone', () => {
  test('is answered by those who have the tool, and by nobody else', async () => {
    await using here = await couple()
    const [more, heard] = [await here.space.join('more'), recordEnvelopes(here.ana)]
    for (const seat of [here.files, more]) seat.tool('who', {}, () => seat.id)
    here.files.tool('own', {}, () => 'mine')
    const ask = (method: string, params: object) =>
      here.ana.send({ kind: 'mcp.request', payload: { jsonrpc: '2.0', id: 7, method, params } })
    const who = await ask('tools/call', { name: 'who' })
    await ask('tools/call', { name: 'nothing' })
    await ask('tools/list', {})
    const own = await ask('tools/call', { name: 'own' })
    await heard.until((e) => e.kind === 'mcp.response' && e.correlationId === own.id)
    await Promise.all([caughtUp(here.files, heard), caughtUp(more, heard)])
    const answers = heard.all.filter(byKind('mcp.response'))
    const to = (id: string) => answers.filter(({ correlationId }) => correlationId === id)
    expect(
      to(who.id)
        .map(({ from }) => from)
        .sort(),
    ).toEqual(['files', 'more'])
    expect(to(who.id)[0]?.payload).toMatchObject({ id: 7 })
    expect(to(own.id).map(({ from }) => from)).toEqual(['files'])
    expect(answers).toHaveLength(3)
  })

  test('to several is answered by each of them', async () => {
    await using here = await couple()
    const more = await here.space.join('more', { unhandled: 'decline' })
    const heard = recordEnvelopes(here.ana)
    here.files.tool('who', {}, () => 'files')
    const payload = { method: 'tools/call', params: { name: 'who' } }
    const asked = await here.ana.send({ kind: 'mcp.request', to: ['files', 'more'], payload })
    const from = (id: string) => (e: { kind: string; from: string }) =>
      e.kind === 'mcp.response' && e.from === id
    expect(await heard.until(from('files'))).toMatchObject({
      correlationId: asked.id,
      payload: { id: asked.id },
    })
    expect((await heard.until(from('more'))).payload).toMatchObject({ error: { code: -32602 } })
    expect(more.id).toBe('more')
  })

  test('is no business of its sender', async () => {
    await using here = await couple()
    const heard = recordEnvelopes(here.files)
    here.files.tool('now', {}, () => 'now')
    const payload = { method: 'tools/call', params: { name: 'now' } }
    const { id } = await here.files.send({ kind: 'mcp.request', payload })
    await heard.until(byId(id))
    await here.ana.request('files', 'ping')
    await caughtUp(here.ana, heard)
    expect(heard.all.filter(byKind('mcp.response')).map(({ to }) => to)).toEqual([['ana']])
  })
})

describe('whatever a seat leaves out of its view', () => {
  verifies('M19', 'a request in a context that is filtered from view is answered', async () => {
    await using here = await couple()
    const heard = recordEnvelopes(here.files)
    here.files.tool('now', {}, () => 'now')
    await here.files.subscribe({
      reasoning: 'none',
      excludeContexts: ['msg-101', 'msg-101/**'],
      contexts: ['elsewhere'],
      from: ['nobody'],
      kinds: ['chat'],
    })
    await here.ana.send({ id: 'msg-101', kind: 'reasoning.start' })
    const thought = { kind: 'reasoning.thought', context: 'msg-101', payload: { message: 'hidden' } }
    await here.ana.send(thought)
    for (const context of ['msg-101', 'msg-101/msg-102']) {
      expect((await here.ana.call('files/now', {}, { context })).text).toBe('now')
    }
    const proposal = { kind: 'mcp.proposal', context: 'msg-101', payload: { method: 'tools/call' } }
    const { id } = await here.ana.send(proposal)
    await heard.until(byId(id))
    expect(heard.all.filter(({ kind }) => kind.startsWith('reasoning.'))).toEqual([])
    expect((await here.files.subscribe({})).subscription.suppressed.envelopes).toBe(2)
  })
})
