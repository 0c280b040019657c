import type { DialRequest } from '@meup/agent-sdk'
import type { DetailedDecision, TurnInfo } from '@meup/folds'
import { Kind } from '@meup/protocol'
import { getJson, readLog, readPages } from './http-client.js'

/** A turn, with how much each of its tools gave back. */
type Turn = TurnInfo<DetailedDecision>

interface Page {
  readonly turns: readonly Turn[]
  /** Where the next page begins; absent = this was the last. */
  readonly next?: number
}

interface Part {
  /** Only turns with a smaller number. */
  readonly before?: number
  /** Turns in one answer. */
  readonly limit?: number
  /** Milliseconds that one answer may take. */
  readonly timeoutMs?: number
}

/** Messages that are looked through for the latest answer. */
const maxMessagesSearched = 1000

/** The turns of a thread that this reader may see, newest first. Rejects with `not_found` for an unknown one. */
export async function* readTurns(
  at: DialRequest,
  thread: string,
  { before, limit = 100, timeoutMs }: Part = {},
): AsyncGenerator<Turn, void> {
  const query = { thread_id: thread, limit: `${limit}`, sizes: 'true' }
  const pages = readPages((place) => getJson<Page>(at, 'turns', { ...query, ...place }, timeoutMs), before)
  for await (const { turns } of pages) yield* turns.toReversed()
}

/** The turns of a thread that `/reasoning <argument>` is about, in the order of their numbers. */
export async function readRequestedTurns(at: DialRequest, thread: string, argument: string): Promise<Turn[]> {
  if (argument === 'all') {
    const all: Turn[] = []
    for await (const turn of readTurns(at, thread)) all.push(turn)
    return all.reverse()
  }
  if (argument === '') {
    for await (const turn of readTurns(at, thread, { limit: 10 })) {
      if (turn.state !== 'running') return [turn]
    }
  }
  if (!/^\d{1,9}$/.test(argument)) return []
  const number = Number(argument)
  const { value: turn } = await readTurns(at, thread, { before: number + 1, limit: 1 }).next()
  return turn?.turn_number === number ? [turn] : []
}

/** Finds the author of the latest answer among the last messages. */
export async function findLatestAnswerer(at: DialRequest): Promise<string | undefined> {
  let looked = 0
  for await (const { context, correlationId, from } of readLog(at, { kind: Kind.chat }, 'desc')) {
    if (context === undefined && correlationId !== undefined) return from
    if (++looked === maxMessagesSearched) break
  }
  return undefined
}

/** `naming` is how one says which agent is meant. */
export const createNoAnswererError = (naming: string): Error =>
  new Error(`nobody has answered anybody here yet; ${naming} says whose reasoning you mean`)
