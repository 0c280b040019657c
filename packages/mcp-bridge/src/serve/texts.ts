import type { AnyEnvelope } from '@meup/agent-sdk'
import { createTranscript, type Message, reasoningCommand, type TurnInfo } from '@meup/folds'
import { anyContext, type Envelope, Kind, ProtocolError, parseContext } from '@meup/protocol'
import type { Query, SpaceReading } from './served-space.js'

/** Envelopes, steps or contexts in one resource; the most that a gateway gives at once. */
const most = 1000
/** Turns among which an answered one is looked for: so many more may have begun since. */
const mostLooked = 100
/** Turns in the resource of the audit. */
const latestTurns = 20

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Whether that is all there is; else these are the latest. */
  readonly isWhole: boolean
}

const threadOf = (space: string, agent: string): string => `${space}/${agent}`

/** The main conversation, oldest first. */
export async function readTranscript(reading: SpaceReading): Promise<Page<Message>> {
  const kind = [Kind.chat, Kind.chatAcknowledge, Kind.chatCancel].join()
  const { items, isWhole } = await readLatest(reading, { kind })
  const transcript = createTranscript()
  for (const envelope of items) transcript.apply(envelope as Envelope)
  return { items: transcript.messages(), isWhole }
}

/** The tree of contexts, oldest first, as the gateway tells it. */
export async function readContexts(reading: SpaceReading): Promise<Page<unknown>> {
  const { contexts } = await reading.json<{ contexts: unknown[] }>('contexts', {})
  return { items: contexts.slice(-most), isWhole: contexts.length <= most }
}

/** One context with what is nested in it, and what was said there. Rejects with `not_found`. */
export async function readContext(reading: SpaceReading, path: string): Promise<object> {
  if (parseContext(path, anyContext) === undefined) {
    throw new ProtocolError('not_found', `${path} is no context, such as run or run/step`)
  }
  const context = await reading.json<object>(`contexts/${path}`, {})
  const { items: envelopes, isWhole } = await readLatest(reading, { context: path })
  return { ...context, envelopes, isWhole }
}

async function readLatest(reading: SpaceReading, query: Query): Promise<Page<AnyEnvelope>> {
  const { envelopes, has_more } = await reading.json<{ envelopes: AnyEnvelope[]; has_more: boolean }>(
    'envelopes',
    { ...query, order: 'desc', limit: `${most}` },
  )
  return { items: envelopes.toReversed(), isWhole: !has_more }
}

/** What agents did lately, turn by turn: Markdown. */
export const readAudit = (reading: SpaceReading): Promise<string> =>
  reading.text('audit/export', { format: 'markdown', limit: `${latestTurns}` })

/** The same of one turn. Rejects with `not_found`. */
export const readTurnAudit = (
  reading: SpaceReading,
  space: string,
  agent: string,
  turn: string,
): Promise<string> =>
  reading.text('audit/export', { format: 'markdown', thread_id: threadOf(space, agent), turn })

/** Why an agent used its tools in its latest turn that has ended, or in a numbered one. Rejects with `not_found`. */
export async function readReasoning(
  reading: SpaceReading,
  space: string,
  agent: string,
  turn?: string,
): Promise<string> {
  if (turn !== undefined && !/^[1-9]\d{0,8}$/.test(turn)) {
    throw new ProtocolError('invalid_request', `turns are numbered from 1; ${turn} is no such number`)
  }
  const part = turn === undefined ? { limit: '10' } : { before: `${Number(turn) + 1}`, limit: '1' }
  const turns = await readTurns(reading, threadOf(space, agent), part)
  if (turn !== undefined && turns.every(({ turn_number }) => turn_number !== Number(turn))) {
    throw new ProtocolError('not_found', `there is no turn ${turn} of ${agent} that you may read`)
  }
  return reasoningCommand(turn ?? '', { turns, isActive: false }).join('\n')
}

/** The number of the turn that an agent's answer has ended; `undefined` = it is none of the latest. */
export async function turnEndedAt(
  reading: SpaceReading,
  space: string,
  agent: string,
  ts: string,
): Promise<number | undefined> {
  const turns = await readTurns(reading, threadOf(space, agent), { limit: `${mostLooked}` })
  return turns.findLast(({ completed_at }) => completed_at === ts)?.turn_number
}

async function readTurns(reading: SpaceReading, thread: string, part: Query): Promise<readonly TurnInfo[]> {
  const { turns } = await reading.json<{ turns: TurnInfo[] }>('turns', { thread_id: thread, ...part })
  return turns
}
