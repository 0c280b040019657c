import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type SpaceClient, type Turn } from '@meup/agent-sdk'
import type { Envelope } from '@meup/protocol'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type RunningSpace, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { type ReceivedSpan, receiveTraces } from '../support/otlp.js'

vi.setConfig({ testTimeout: 60_000 }) // Conversations need several processes.

const server = (name: string): string =>
  JSON.stringify(join(repositoryRoot, 'packages/mcp-bridge/test/fixtures', name))
const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*", observe.targeted] }
  bot: { kind: agent, capabilities: [chat, "reasoning.*", mcp.proposal, mcp.withdraw, { kind: mcp.request, to: [sums, expert] }] }
  expert: { kind: agent, capabilities: ["*"] }
  sums: { kind: mcp, command: node, args: [${server('sdk-server.mjs')}] }
  mirror: { kind: mcp, command: node, args: [${server('raw-server.mjs')}] }
`

/** Starts the space with these environment variables for traces, which this process does not have. */
async function start(variables: Record<string, string>) {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  const cwd = temporaryFolder({ 'space.yaml': config })
  const starting = startMeup('up', cwd)
  vi.unstubAllEnvs()
  const running = await starting
  const enter = async (as: string, tracing = false): Promise<SpaceClient> => {
    const space = await connect({ as, directory: cwd, tracing })
    onTestFinished(() => space.close())
    return space
  }
  const ana = await enter('ana')
  await ana.whenPresent(['sums', 'mirror'], { timeoutMs: 15_000 })
  return { cwd, running, enter, ana }
}

/** Reads the log as ana, who may read all of it. */
async function logOf({ url }: RunningSpace, ana: SpaceClient, cwd: string) {
  const headers = { authorization: `Bearer ${readFileSync(join(cwd, '.meup/tokens/ana'), 'utf8').trim()}` }
  const response = await fetch(`${url}/spaces/demo/envelopes?limit=1000`, { headers })
  const { envelopes } = (await response.json()) as { envelopes: Envelope[] }
  const { epoch } = ana.welcome.space
  const digest = (id: string): string => createHash('sha256').update(`${epoch} ${id}`).digest('hex')
  return {
    all: envelopes,
    find: (kind: string, which: (envelope: Envelope) => boolean = () => true): Envelope => {
      const found = envelopes.find((each) => each.kind === kind && which(each))
      return found ?? expect.unreachable(`there is no such ${kind}`)
    },
    traceId: (id: string): string => digest(id).slice(0, 32),
    spanId: (id: string): string => digest(id).slice(32, 48),
  }
}

const toolOf = ({ payload }: Envelope): unknown => (payload.params as { name?: unknown } | undefined)?.name
const calls = (tool: string) => (envelope: Envelope) => toolOf(envelope) === tool
const answers = (id: string) => (envelope: Envelope) => envelope.correlationId === id

/** Draws spans as an indented text, in the order of the log: name, and error if there is one. */
function drawn(spans: readonly ReceivedSpan[], parent = '', indent = ''): string[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .sort((one, other) => Number(one.attributes['meup.seq']) - Number(other.attributes['meup.seq']))
    .flatMap(({ name, attributes, spanId }) => {
      const error = attributes['error.type']
      const line = `${indent}${name}${error === undefined ? '' : `: ${String(error)}`}`
      return [line, ...drawn(spans, spanId, `${indent}  `)]
    })
}

/** A turn with parallel calls, one of which fails, a nested context, a rejected proposal, and a denied call. */
async function work(turn: Turn): Promise<void> {
  const run = await turn.reason('looking at my notes', { metadata: { model: 'some-model-2' } })
  await run.thought('the salaries are in there')
  const sums = run.parallel([
    { tool: 'sums/add', args: { a: 1, b: 2 }, why: 'to know the sum' },
    { tool: 'sums/fail', why: 'to see it fail' },
  ])
  await expect(sums).rejects.toThrow('not today')
  const nested = await run.reason('in depth')
  await nested.call('sums/add', { a: 3, b: 4 }, { why: 'to know more' })
  await nested.conclude()
  await expect(run.call('mirror/mirror', {}, { why: 'to look' })).rejects.toThrow('rejected by ana')
  const denied = run.call('mirror/mirror', {}, { why: 'to look', propose: false })
  await expect(denied).rejects.toThrow('is not allowed to send')
  await run.conclude('nothing more to see')
  await turn.reply('done')
}

async function conversation(variables: Record<string, string>) {
  const space = await start(variables)
  const { ana, running, enter, cwd } = space
  const bot = await enter('bot')
  ana.proposals.on('proposal', ({ id }) => void ana.proposals.reject(id, { reason: 'unsafe' }))
  const turns = bot.turns()
  const asked = ana.ask('go', { to: ['bot'] })
  const { value: turn } = (await turns.next()) as { value: Turn }
  await work(turn)
  expect(await asked).toMatchObject({ text: 'done' })
  const log = await logOf(running, ana, cwd)
  expect(await running.stop('SIGTERM')).toBe(0)
  return { log, running }
}

describe('a conversation through a gateway that traces', () => {
  test('is a tree of spans with the times of the log, and without what was thought', async () => {
    const receiver = await receiveTraces()
    const { log } = await conversation({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
    expect(drawn(receiver.spans)).toEqual([
      'invoke_agent bot',
      '  execute_tool add',
      '  execute_tool fail: tool_error',
      '  invoke_agent bot',
      '    execute_tool add',
      '  execute_tool mirror: rejected',
      '  execute_tool mirror: capability_violation',
    ])
    const run = log.find('reasoning.start')
    const nested = log.find('reasoning.start', ({ context }) => context === run.id)
    const add = log.find('mcp.request', calls('add'))
    const fail = log.find('mcp.request', calls('fail'))
    const deep = log.find('mcp.request', ({ context }) => context === `${run.id}/${nested.id}`)
    const proposal = log.find('mcp.proposal')
    const decision = log.find('system.decision')
    const ends = {
      [run.id]: log.find('reasoning.conclusion', ({ context }) => context === run.id),
      [nested.id]: log.find('reasoning.conclusion', ({ context }) => context === deep.context),
      ...Object.fromEntries([add, fail, deep].map(({ id }) => [id, log.find('mcp.response', answers(id))])),
      [proposal.id]: log.find('mcp.reject', answers(proposal.id)),
      [decision.id]: decision,
    }
    const times = [run, nested, add, fail, deep, proposal, decision].map(({ id, ts }) => [
      log.spanId(id),
      Date.parse(ts),
      Date.parse(ends[id]?.ts ?? ''),
    ])
    const received = receiver.spans.map(({ spanId, start, end }) => [spanId, start, end])
    expect(received.sort()).toEqual(times.sort())
    for (const { traceId, kind, status, attributes } of receiver.spans) {
      expect([traceId, kind]).toEqual([log.traceId(run.id), 1])
      expect(status).toBe(attributes['error.type'] === undefined ? 0 : 2)
    }
    const attributesOf = (id: string): unknown =>
      receiver.spans.find(({ spanId }) => spanId === log.spanId(id))?.attributes
    const common = {
      'gen_ai.agent.id': 'bot',
      'gen_ai.agent.name': 'bot',
      'gen_ai.conversation.id': 'demo/bot',
      'meup.space': 'demo',
      'meup.context': run.id,
    }
    expect(attributesOf(run.id)).toEqual({
      ...common,
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'meup',
      'gen_ai.request.model': 'some-model-2',
      'meup.seq': run.seq,
      'meup.trigger': [log.find('chat').id],
    })
    expect(attributesOf(fail.id)).toEqual({
      ...common,
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'fail',
      'gen_ai.tool.call.id': fail.id,
      'mcp.method.name': 'tools/call',
      'meup.seq': fail.seq,
      'meup.to': ['sums'],
      'meup.rationale': 'to see it fail',
      'meup.parallel_group': 0,
      'error.type': 'tool_error',
    })
    expect(receiver.spans.flatMap(({ events }) => events)).toEqual([])
    expect(JSON.stringify(receiver.spans)).not.toMatch(/my notes|salaries|in depth|nothing more|not today/)
  })
})

test('an agent that works for another, and the MCP server it calls, are in the trace of who asked', async () => {
  const receiver = await receiveTraces()
  const { ana, running, enter, cwd } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
  const [bot, expert] = await Promise.all([enter('bot', true), enter('expert', true)])
  let seen: unknown
  expert.tool('review', {}, async (_, { reason }) => {
    const run = await reason('reviewing')
    const result = await expert.request(
      'mirror',
      'tools/call',
      { name: 'mirror', arguments: {} },
      { context: run.context, why: 'to see what arrives' },
    )
    seen = (result.request as { params: { _meta: unknown } }).params._meta
    await run.conclude('reviewed')
    return 'fine'
  })
  const run = await bot.reason('asking the expert')
  await run.call('expert/review', {}, { why: 'it knows' })
  await run.conclude('asked')
  const log = await logOf(running, ana, cwd)
  expect(await running.stop('SIGTERM')).toBe(0)

  expect(drawn(receiver.spans)).toEqual([
    'invoke_agent bot',
    '  execute_tool review',
    '    invoke_agent expert',
    '      execute_tool mirror',
  ])
  const traceId = log.traceId(run.context)
  expect(new Set(receiver.spans.map((span) => span.traceId))).toEqual(new Set([traceId]))
  const mirrored = log.find('mcp.request', calls('mirror'))
  expect(seen).toEqual({ traceparent: `00-${traceId}-${log.spanId(mirrored.id)}-01` })
})
