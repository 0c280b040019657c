import type { SpaceClient } from '@meup/agent-sdk'
import type { ElicitResult, OnElicitation } from '@meup/agent-sdk/internal'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { bridgeMcpServer, type McpServerOptions } from '@meup/mcp-bridge'
import { type AnyEnvelope, type Capability, Kind } from '@meup/protocol'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { serveHttp } from './support/http-server.js'
import { fixtures } from './support/processes.js'

/** The usual capabilities of a participant that is an MCP server. */
const usual: Capability[] = [
  'mcp.response',
  { kind: 'mcp.request', payload: { method: ['notifications/**', 'elicitation/create'] } },
]

const command = (program: 'rawServer' | 'sdkServer', ...args: string[]): McpServerOptions => ({
  name: 'hall',
  command: process.execPath,
  args: [fixtures[program], ...args],
  env: {},
})
const servers = {
  stdio: async () => command('sdkServer'),
  'stdio of 2026-07-28': async () => command('sdkServer', 'modern-only'),
  'http with sessions': async () => ({ name: 'hall', url: (await serveHttp('sessions')).url }),
  'http of 2026-07-28': async () => ({ name: 'hall', url: (await serveHttp('modern')).url }),
} as const

/** A space with ana and eve, and an MCP server `hall` whose tool `book` asks for a seat. */
async function openHall(server: McpServerOptions, hall: Capability[] = usual) {
  const space = await createTestSpace({
    participants: { ana: ['*'], eve: ['*'], hall },
    mcp: { visibility: 'addressees' },
  })
  onTestFinished(() => space.close())
  const [ana, eve] = [await space.join('ana'), await space.join('eve')]
  const lines: string[] = []
  const bridge = await bridgeMcpServer({
    ...server,
    connect: () => space.join('hall'),
    log: (line) => lines.push(line),
  })
  onTestFinished(() => bridge.close())
  return { space, ana, eve, lines }
}

const heardBy = (seat: SpaceClient): AnyEnvelope[] => {
  const heard: AnyEnvelope[] = []
  seat.on('envelope', (envelope) => heard.push(envelope))
  return heard
}
const isQuestion = ({ kind, payload }: AnyEnvelope): boolean =>
  kind === Kind.mcpRequest && payload.method === 'elicitation/create'
const answering = (result: ElicitResult) => vi.fn<OnElicitation>(async () => result)
const window: ElicitResult = { action: 'accept', content: { seat: 'window' } }

describe.each(Object.entries(servers))('what a tool asks is put to its caller: %s', (_, create) => {
  test('as a request about the call, and to nobody else', async () => {
    const { ana, eve } = await openHall(await create())
    const [heard, others] = [heardBy(ana), heardBy(eve)]
    const onElicitation = answering(window)
    const { text } = await ana.call('hall/book', {}, { onElicitation, context: 'trip' })
    expect(JSON.parse(text)).toMatchObject({ action: 'accept', content: { seat: 'window' } })
    const asked = expect.objectContaining({
      message: 'Which seat?',
      requestedSchema: expect.objectContaining({ required: ['seat'] }),
    })
    expect(onElicitation).toHaveBeenCalledExactlyOnceWith(asked, expect.any(AbortSignal))
    const call = heard.find(({ kind, from }) => kind === Kind.mcpRequest && from === 'ana')
    const question = heard.find(isQuestion)
    expect(question).toMatchObject({ from: 'hall', to: ['ana'], correlationId: call?.id, context: 'trip' })
    const answer = heard.find(({ kind, from }) => kind === Kind.mcpResponse && from === 'ana')
    expect(answer).toMatchObject({ to: ['hall'], correlationId: question?.id, payload: { result: window } })
    await eve.chat('fence')
    expect(others.filter(({ kind }) => kind.startsWith('mcp.'))).toEqual([])
  })

  test('who gives no answer to such questions has declined', async () => {
    const { ana } = await openHall(await create())
    expect(JSON.parse((await ana.call('hall/book')).text)).toMatchObject({ action: 'decline' })
  })
})

test('the time of a question is not counted against the call', async () => {
  const { ana } = await openHall(command('sdkServer'))
  const onElicitation = vi.fn(async (): Promise<ElicitResult> => {
    await new Promise((resolve) => setTimeout(resolve, 400))
    return window
  })
  const { text } = await ana.call('hall/book', {}, { onElicitation, timeoutMs: 300 })
  expect(JSON.parse(text)).toMatchObject({ action: 'accept' })
})

test('where a server does not say whom it asks, nobody is asked while several call it', async () => {
  const { ana, eve, lines } = await openHall(command('rawServer'))
  const silent = eve.call('hall/silent')
  silent.catch(() => {})
  const onElicitation = answering(window)
  const ask = { method: 'elicitation/create' }
  // The bridge relays both calls in the order of their requests, so this one reaches the server while the call of eve is open.
  const declined = await ana.request('hall', 'tools/call', { name: 'ask', arguments: ask }, { onElicitation })
  expect(declined).toMatchObject({ answer: { result: { action: 'decline' } } })
  expect(onElicitation).not.toHaveBeenCalled()
  expect(lines.join()).toContain('the question does not name one')
})

test('nobody is asked what a call may be about that another has given up', async () => {
  const { ana, eve } = await openHall(command('rawServer'))
  await expect(eve.call('hall/silent', {}, { timeoutMs: 50 })).rejects.toThrow(/within 50 ms/)
  const onElicitation = answering(window)
  const params = { name: 'ask', arguments: { method: 'elicitation/create' } }
  expect(await ana.request('hall', 'tools/call', params, { onElicitation })).toMatchObject({
    answer: { result: { action: 'decline' } },
  })
  expect(onElicitation).not.toHaveBeenCalled()
})

test('who approves a call makes it, and is asked; its proposer is not', async () => {
  const { ana, eve } = await openHall(command('sdkServer'))
  const errors: unknown[] = []
  eve.on('requestError', (error) => errors.push(error))
  const heard = heardBy(ana)
  const proposal = await eve.propose({ to: 'hall', method: 'tools/call', params: { name: 'book' } })
  await expect.poll(() => ana.proposals.get(proposal.id)).toBeDefined()
  const onElicitation = answering(window)
  await ana.proposals.approve(proposal.id, { onElicitation })
  expect(onElicitation).toHaveBeenCalledOnce()
  expect(await proposal.outcome).toMatchObject({ state: 'approved', by: 'ana' })
  const answers = heard.filter(({ kind, to }) => kind === Kind.mcpResponse && to?.includes('hall'))
  expect(answers).toMatchObject([{ from: 'ana', payload: { result: window } }])
  expect(errors).toEqual([])
})

test('a question ends with its call', async () => {
  const { ana } = await openHall(command('sdkServer'))
  const abort = new AbortController()
  const taken = new Promise<unknown>((resolve) => {
    const call = ana.call(
      'hall/book',
      {},
      {
        signal: abort.signal,
        onElicitation: (_, signal) =>
          new Promise(() => {
            signal.addEventListener('abort', () => resolve(signal.reason))
            abort.abort('changed my mind')
          }),
      },
    )
    call.catch(() => {})
  })
  expect(await taken).toBe('the question was taken back')
})

test('a server that may not ask is told that nothing was chosen', async () => {
  const { ana } = await openHall(command('sdkServer'), ['mcp.response'])
  const onElicitation = answering(window)
  const { text } = await ana.call('hall/book', {}, { onElicitation })
  expect(JSON.parse(text)).toMatchObject({ action: 'cancel' })
  expect(onElicitation).not.toHaveBeenCalled()
})

test('a connection leaves alone what another of its participant is asked', async () => {
  const { space, ana } = await openHall(command('sdkServer'))
  const other = heardBy(await space.join('ana'))
  const answers = () => other.filter(({ kind, from }) => kind === Kind.mcpResponse && from === 'ana')
  await ana.call('hall/book', {}, { onElicitation: answering(window) })
  await expect.poll(answers).toMatchObject([{ payload: { result: window } }])
})

test('who asks very much at once is declined the rest', async () => {
  const space = await createTestSpace({ participants: { ana: ['*'], hostile: ['*'] } })
  onTestFinished(() => space.close())
  const [ana, hostile] = [await space.join('ana'), await space.join('hostile')]
  hostile.serve(async ({ id, from }) => {
    const ask = () =>
      hostile.request(from, 'elicitation/create', { message: 'Well?' }, { correlationId: id, propose: false })
    const asked = Array.from({ length: 40 }, ask)
    const first = await Promise.race(asked)
    for (const each of asked) each.catch(() => {}) // The other elicitations end with the call.
    return { result: first }
  })
  const onElicitation = vi.fn<OnElicitation>(
    (_, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ action: 'cancel' }))
      }),
  )
  const answer = await ana.request('hostile', 'tools/call', { name: 'x' }, { onElicitation })
  expect(answer).toEqual({ action: 'decline' })
  expect(onElicitation).toHaveBeenCalledTimes(16)
})
