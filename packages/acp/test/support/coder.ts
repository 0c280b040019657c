import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AnyEnvelope, SpaceClient } from '@meup/agent-sdk'
import { createTestSpace, type TestSpace } from '@meup/agent-sdk/testing'
import type { TestSpaceOptions } from '@meup/gateway/testing'
import { type Capability, correlations, Kind } from '@meup/protocol'
import { onTestFinished } from 'vitest'
import { type CodingAgent, type CodingAgentOptions, joinCodingAgent } from '../../src/index.js'

const script = fileURLToPath(new URL('../fixtures/scripted-agent.mjs', import.meta.url))

/** Default capabilities of an `acp` participant. */
export const usual: readonly Capability[] = ['chat', 'reasoning.*', 'mcp.proposal', 'participant.status']

type Step = readonly [string, ...unknown[]]

interface Options extends Partial<CodingAgentOptions> {
  readonly capabilities?: readonly Capability[]
  /** Options of `scripted-agent.mjs`, in addition to the steps in its questions. */
  readonly behaviour?: object
  readonly participants?: TestSpaceOptions['participants']
  readonly limits?: TestSpaceOptions['limits']
}

export interface Coder {
  readonly space: TestSpace
  readonly ana: SpaceClient
  readonly agent: CodingAgent
  /** The agent's working folder. */
  readonly cwd: string
  /** The lines that the agent's bridge has logged. */
  readonly lines: readonly string[]
  /** Every envelope that ana received. */
  readonly log: readonly AnyEnvelope[]
  /** The notes that the scripted agent wrote about its input. */
  notes(): Record<string, unknown>[]
  /** Asks the agent to execute these steps; resolves with its answer. */
  ask(...steps: Step[]): Promise<string>
  /** Waits for the first matching envelope. */
  seen(kind: string, holds?: (envelope: AnyEnvelope) => boolean): Promise<AnyEnvelope>
  /** Starts another process of the coder. `as`: joins as another participant. */
  join(more?: Options, as?: string): Promise<CodingAgent>
}

/** A space with ana, who may send and read everything, and a scripted coding agent. */
export async function startCoder(options: Options = {}): Promise<Coder> {
  const { capabilities = usual, participants = {}, limits } = options
  const space = await createTestSpace({
    participants: { ana: ['*', 'observe.targeted'], coder: [...capabilities], ...participants },
    ...(limits && { limits }),
  })
  onTestFinished(() => space.close())
  const ana = await space.join('ana')
  const log: AnyEnvelope[] = []
  const waiting = new Set<() => void>()
  ana.on('envelope', (envelope) => {
    log.push(envelope)
    for (const look of [...waiting]) look()
  })
  const cwd = mkdtempSync(join(tmpdir(), 'meup-coder-'))
  const notes = join(cwd, '..', `${cwd.split('/').at(-1)}.notes`)
  const lines: string[] = []
  const joinAgain = async (more: Options = {}, as = 'coder'): Promise<CodingAgent> => {
    const { behaviour = {}, ...rest } = { ...options, ...more }
    const { capabilities: _, participants: __, limits: ___, ...own } = rest
    const agent = await joinCodingAgent({
      command: process.execPath,
      args: [script, JSON.stringify(behaviour)],
      env: { PATH: process.env.PATH ?? '', NOTES: notes },
      cwd,
      connect: () => space.join(as, { tail: 1000 }),
      log: (line) => lines.push(line),
      ...own,
    })
    onTestFinished(() => agent.close())
    return agent
  }
  const agent = await joinAgain()
  return {
    ...{ space, ana, agent, cwd, lines, log, join: joinAgain },
    notes: () =>
      readFileSync(notes, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    ask: async (...steps) => (await ana.ask(JSON.stringify(steps), { to: ['coder'] })).text,
    seen: (kind, holds = () => true) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = log.find((envelope) => envelope.kind === kind && holds(envelope))
          if (found === undefined) return void waiting.add(look)
          waiting.delete(look)
          resolve(found)
        }
        look()
      }),
  }
}

/** The logged calls of the coder's own tools, with their results. */
export function listCalls(log: readonly AnyEnvelope[]) {
  return log.flatMap((call) => {
    if (call.kind !== Kind.mcpRequest || !call.to?.includes('coder')) return []
    if (call.payload.method !== 'tools/call') return []
    const answer = log.find(
      ({ kind, ...each }) => kind === Kind.mcpResponse && correlations(each).includes(call.id),
    )
    return {
      by: call.from,
      params: call.payload.params,
      rationale: call.rationale,
      result: Object(answer?.payload).result,
    }
  })
}

export const shell = (id: string, command: string) => ({
  toolCallId: id,
  title: command,
  kind: 'execute',
  rawInput: { command },
})
