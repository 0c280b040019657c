import { connect, type SpaceClient } from '@meup/agent-sdk'
import type { AnyEnvelope } from '@meup/protocol'
import { expect, onTestFinished } from 'vitest'
import { meup, temporaryFolder } from '../support/cli.js'
import { chat, conclusion, type Example, request, start, thought } from '../support/replay.js'
import { runSpace } from '../support/space.js'
import { verifies } from '../verifies.js'

const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
  agent: { kind: agent, capabilities: [chat, "reasoning.*", mcp.request, mcp.response] }
`
const timeout = 60_000

/** Puts envelopes into the log of a running space. Returns the output of `meup watch` and `meup reasoning`. */
async function watched(...examples: readonly Example[]) {
  const cwd = temporaryFolder({ 'space.yaml': config })
  await runSpace(cwd)
  const seats = new Map<string, SpaceClient>()
  for (const as of ['ana', 'agent']) {
    const seat = await connect({ as, directory: cwd })
    onTestFinished(() => seat.close())
    seats.set(as, seat)
  }
  const echoes: (AnyEnvelope | undefined)[] = []
  for (const { from, ...draft } of examples) echoes.push(await seats.get(from)?.send(draft))
  const print = async (...flags: readonly string[]): Promise<string> => {
    const { stdout } = await meup(['watch', '--from', `${echoes[0]?.seq}`, '--no-follow', ...flags], { cwd })
    return stdout
  }
  return { print, why: async () => (await meup(['reasoning', '--as', 'ana'], { cwd })).stdout }
}

verifies(
  'M04',
  'a terminal shows a start and a conclusion without words by neutral labels',
  async () => {
    const { print } = await watched(
      { kind: 'reasoning.start', from: 'agent', id: 'msg-501' },
      { kind: 'reasoning.conclusion', from: 'agent', context: 'msg-501' },
      start('agent', '', { id: 'msg-601' }),
      conclusion('agent', '', { context: 'msg-601' }),
    )
    expect(await print()).toBe(`agent ┄ thinking
  agent ∎ done
agent ┄ thinking
  agent ∎ done
`)
  },
  { timeout },
)

verifies(
  'M07',
  'a terminal shows a thought after the conclusion, marked as late',
  async () => {
    const context = 'msg-101'
    const { print } = await watched(
      start('agent', 'Analyzing deployment safety...', { id: context }),
      thought('agent', 'Need to check test results', { context }),
      conclusion('agent', 'Deployment is unsafe', { context }),
      thought('agent', 'Oh, and one more thing', { context }),
      start('agent', 'Deep dive', { id: 'msg-102', context }),
      chat('agent', 'I recommend against deploying.'),
    )
    expect(await print()).toBe(`agent ┄ Analyzing deployment safety...
  agent · Need to check test results
  agent ∎ Deployment is unsafe
  agent · Oh, and one more thing (late)
  agent ┄ Deep dive (late)
agent: I recommend against deploying.
`)
  },
  { timeout },
)

verifies(
  'M28',
  'a terminal sets in what is said in a context, also without reasoning kinds',
  async () => {
    const context = 'reason-123'
    const { print } = await watched(
      chat('agent', "I'll analyze this"),
      chat('agent', 'Checking permissions...', { context }),
      request('agent', 'check_permissions', { context, to: ['agent'] }),
      chat('agent', 'Permissions look good', { context }),
    )
    expect(await print()).toBe(`agent: I'll analyze this
  agent: Checking permissions...
  agent → agent/check_permissions {}  — no reason given
  agent: Permissions look good
`)
    expect(await print('--context', context)).toBe(`  agent: Checking permissions...
  agent → agent/check_permissions {}  — no reason given
  agent: Permissions look good
`)
  },
  { timeout },
)

verifies(
  'I04',
  'a terminal tells the narrative of a turn as such, and not as the reason of a call that has none',
  async () => {
    const call = (id: string, name: string, why: object): Example[] => [
      { ...request('agent', name, { id, context: 'run', to: ['agent'] }), ...why },
      { kind: 'mcp.response', from: 'agent', to: ['agent'], correlationId: id, payload: { result: {} } },
    ]
    const { why } = await watched(
      chat('ana', 'Which file?', { id: 'q' }),
      start('agent', '', { id: 'run', correlationId: 'q' }),
      thought('agent', 'First memory, then the file.', { context: 'run' }),
      ...call('c1', 'memory_search', { rationale: 'it may be known' }),
      ...call('c2', 'file_read', {}),
      conclusion('agent', '', { context: 'run' }),
      chat('agent', 'auth.ts', { correlationId: 'q' }),
    )
    expect(await why()).toBe(`  ┄ Reasoning — turn 1
  Narrative: "First memory, then the file."

  ┄ memory_search
    rationale: "it may be known"
    params:    {}
    outcome:   success

  ┄ file_read
    rationale: no reason given
    params:    {}
    outcome:   success
`)
  },
  { timeout },
)
