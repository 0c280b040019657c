import { type MayRead, type TurnInfo, type TurnRecord, turnDetail, turnInfo } from '@meup/views'
import type { Projection, TurnQuery } from '../ports/projection.js'
import type { Passed } from './reading.js'

const turnsAtOnce = 16
/** One request looks at so many turns, and takes about so many characters of them, before it says where to go on. */
const [mostTurns, mostCharacters] = [2000, 8 * 1024 * 1024]

/** Characters that a turn which is not shown has at least. */
const leastOfTurn = 512

/** A part of a thread. */
export interface TurnPage {
  /** In the order of their numbers. */
  readonly turns: readonly TurnInfo[]
  /** `before` of the page of earlier turns; `undefined` = there are none. It may turn out empty. */
  readonly next: number | undefined
}

/**
 * The latest turns of a thread, those before one of them, as far as the reader may read anything of them; with how much
 * each tool gave back where `sizes` are asked for.
 */
export async function readTurns(
  projection: Pick<Projection, 'turns'>,
  { sizes = false, ...query }: TurnQuery & { readonly sizes?: boolean },
  mayRead: MayRead,
  passed: Passed,
): Promise<TurnPage> {
  const tell = sizes ? turnDetail : turnInfo
  const turns: TurnInfo[] = []
  let [next, looked, characters]: [number | undefined, number, number] = [query.before, 0, 0]
  for await (const record of newestFirst(projection, query)) {
    const info = tell(record, mayRead)
    const isFull = turns.length === query.limit || characters >= mostCharacters
    if (looked === mostTurns || (isFull && info !== undefined)) return { turns: turns.reverse(), next }
    if (info === undefined) passed(leastOfTurn + charactersOf(record))
    else turns.push(info)
    next = record.turnNumber ?? next
    characters += charactersOf(record)
    looked++
  }
  return { turns: turns.reverse(), next: undefined }
}

async function* newestFirst(
  projection: Pick<Projection, 'turns'>,
  query: TurnQuery,
): AsyncGenerator<TurnRecord> {
  let [before, limit] = [query.before, Math.min(query.limit + 1, turnsAtOnce)]
  for (;;) {
    const records = await projection.turns({ ...query, limit, ...(before !== undefined && { before }) })
    yield* records
    const last = records.at(-1)?.turnNumber ?? null
    if (records.length < limit || last === null) return
    ;[before, limit] = [last, turnsAtOnce]
  }
}

const charactersOf = ({ weight, trigger, answer }: TurnRecord): number =>
  weight + (trigger?.text?.length ?? 0) + (answer?.text?.length ?? 0)
