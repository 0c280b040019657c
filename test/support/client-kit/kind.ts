import { type AnyEnvelope, correlations, Kind } from '@meup/protocol'
import { expect } from 'vitest'
import type { RunningClient } from './clients.js'
import { client, type Line, type Said, type ScriptedGateway, type Sent } from './scripted-gateway.js'

/** The environment of a case: a gateway, and the client, which has been started. */
export interface Stage {
  readonly gateway: ScriptedGateway
  readonly running: RunningClient
}

type Play = (stage: Stage) => Promise<unknown>

/** A kind of case: one requirement of a client, with several variants. */
export interface CaseKind {
  readonly name: string
  readonly variants: Readonly<Record<string, Play>>
  /** Fixed results of `Math.random` during the case. */
  readonly random?: number
}

export const kind = (
  name: string,
  variants: Readonly<Record<string, Play>>,
  options: Pick<CaseKind, 'random'> = {},
): CaseKind => ({ name, variants, ...options })

export const forEach = <Input>(
  inputs: readonly Input[],
  play: (stage: Stage, input: Input) => Promise<unknown>,
): Readonly<Record<string, Play>> =>
  Object.fromEntries(inputs.map((input) => [JSON.stringify(input), (stage: Stage) => play(stage, input)]))

/** Tries inputs one after the other, over one connection, because an earlier input must not affect a later one. */
export const inTurn =
  <Input>(inputs: readonly Input[], play: (line: Line, input: Input) => Promise<unknown>): Play =>
  async ({ gateway }) => {
    const line = await gateway.welcomed()
    for (const input of inputs) {
      await play(line, input).catch((cause: Error) => {
        throw new Error(`${JSON.stringify(input)}: ${cause.message}`, { cause })
      })
    }
    expect(gateway.attempts).toHaveLength(1)
  }

export const question = (message: string, more: Partial<Said> = {}): Said => ({
  kind: Kind.chat,
  payload: { message },
  ...more,
})

/** A call of `shout`. `rpcId`: the text of its JSON-RPC id. */
export const call = (args: unknown = { text: 'quietly' }, more: object = {}, fields: Partial<Said> = {}) => ({
  kind: Kind.mcpRequest,
  to: [client],
  payload: {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'shout', arguments: args },
    ...more,
  },
  ...fields,
})

const isAnswerTo =
  ({ id }: AnyEnvelope, answerKind: string = Kind.chat) =>
  (envelope: AnyEnvelope): boolean =>
    envelope.kind === answerKind && correlations(envelope).includes(id)

export const answerTo = (line: Line, asked: AnyEnvelope): Promise<Sent> => line.until(isAnswerTo(asked))
export const responseTo = (line: Line, asked: AnyEnvelope): Promise<Sent> =>
  line.until(isAnswerTo(asked, Kind.mcpResponse))

/** Waits for the response to a call, and returns its payload. */
export async function outcomeOf(line: Line, asked: AnyEnvelope): Promise<Outcome> {
  const { envelope } = await responseTo(line, asked)
  return envelope.payload as Outcome
}

export interface Outcome {
  readonly result?: {
    readonly content: readonly { readonly text: string }[]
    readonly isError?: boolean
    readonly action?: string
  }
  readonly error?: { readonly code: number }
}

/** Checks that the client is still connected, and has handled everything before: asks a question, and waits for the answer. */
export async function expectAlive(line: Line): Promise<void> {
  const asked = line.say('ana', question('still there'))
  expect((await answerTo(line, asked)).envelope.payload).toMatchObject({ message: '2 words' })
}

/** Lists the client's envelopes about an envelope: those that correlate to it, and those of runs about it. */
export function about(line: Line, { id }: AnyEnvelope): AnyEnvelope[] {
  const correlated = line.envelopes.filter((each) => correlations(each).includes(id))
  const runs = correlated.filter((each) => each.kind === Kind.reasoningStart).map((each) => each.id)
  return line.envelopes.filter((each) => correlated.includes(each) || runs.includes(each.context ?? ''))
}

/** Cuts the connection. Returns the next one, before its welcome. */
export async function cut(line: Line): Promise<Line> {
  await line.cut()
  return line.gateway.next()
}

/** The fields of a welcome that announces a replay. */
export const replaying = (from: number, to: number) => ({
  resume: { status: 'replaying', from, to } as const,
})

/** The fields of a welcome for a client whose position is not in the log. */
export const lost = (to: number) => ({ resume: { status: 'lost', from: 1, to } as const })
