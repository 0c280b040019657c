import { setTimeout as pause } from 'node:timers/promises'
import { ConnectionError, type DialRequest } from '@meup/agent-sdk'
import { ProtocolError } from '@meup/protocol'
import { ask, type Query } from '../../reading.js'
import type { ReadStep, RunningTurn } from './audit-file.js'

/** Steps in one answer. */
const pageSize = 250
/** Milliseconds before a request that was put off is repeated; doubled each time. */
const firstPauseMs = 1000
const mostTries = 8

interface Page {
  readonly steps: readonly ReadStep[]
  /** Where the next page begins; absent = this was the last. */
  readonly next?: number
}

/** Where the log of the space is. */
export interface LogPlace {
  readonly epoch: string
  readonly head: number
}

/** A context, as the gateway tells it. */
interface Context {
  readonly context: string
  readonly state: string
  readonly reasoningVisible: boolean
  readonly startedAt: string
  readonly children: readonly Context[]
}

export async function readPlace(at: DialRequest): Promise<LogPlace> {
  const { epoch, head } = await askPatiently<LogPlace>(at, 'participants')
  return { epoch, head }
}

/** Pages of steps that were created from `since` on, the newest first. */
export async function* readPages(
  at: DialRequest,
  since: string | undefined,
): AsyncGenerator<readonly ReadStep[], void> {
  const query = { limit: `${pageSize}`, ...(since !== undefined && { since }) }
  let before: number | undefined
  do {
    const place = before === undefined ? {} : { before: `${before}` }
    const page: Page = await askPatiently<Page>(at, 'audit', { ...query, ...place })
    if (page.steps.length > 0) yield page.steps
    before = page.next
  } while (before !== undefined)
}

/** The last steps of a turn, with what has become of the turn. */
export async function readTurn(
  at: DialRequest,
  { thread_id, seq }: RunningTurn,
): Promise<readonly ReadStep[]> {
  const { steps } = await askPatiently<Page>(at, 'audit', { thread_id, before: `${seq + 1}`, limit: '1' })
  return steps
}

/** Runs whose thoughts are hidden at present, and when each began. */
export async function readHiddenRuns(at: DialRequest): Promise<ReadonlyMap<string, string>> {
  const { contexts } = await askPatiently<{ contexts: readonly Context[] }>(at, 'contexts')
  const hidden = new Map<string, string>()
  const look = ({ context, state, reasoningVisible, startedAt, children }: Context): void => {
    if (state === 'open' && !reasoningVisible) hidden.set(context, startedAt)
    for (const child of children) look(child)
  }
  for (const each of contexts) look(each)
  return hidden
}

/** Asks again where the gateway is not ready, or was asked for too much. */
async function askPatiently<Answer>(at: DialRequest, path: string, query: Query = {}): Promise<Answer> {
  for (let tries = 1, pauseMs = firstPauseMs; ; tries++, pauseMs *= 2) {
    try {
      return await ask<Answer>(at, path, query)
    } catch (error) {
      if (tries === mostTries || !isPutOff(error)) throw error
      await pause(pauseMs)
    }
  }
}

const isPutOff = (error: unknown): boolean =>
  error instanceof ProtocolError && (error.code === 'unavailable' || error.code === 'rate_limited')

/** Whether the gateway may answer later: it is away, or has too much to do. */
export const isAway = (error: unknown): boolean =>
  isPutOff(error) || (error instanceof ConnectionError && error.code !== 'not_configured')
