import { type Beginning, type CallPart, type TurnInfo, turnDetail, turnInfo } from '@meup/folds'
import type { Reader } from '../core/may-read.js'
import type { Space } from '../core/space.js'
import { yieldIfBusy } from '../core/yielding.js'
import { countCharacters, type FoldedTurns, type Passed } from './folded-turns.js'
import { LoggedRights } from './rights.js'
import type { TurnIndex } from './turn-index.js'
import type { TurnView } from './visible-turn.js'

interface TurnQuery {
  readonly agent: string
  /** Only turns with a smaller number. */
  readonly before?: number
  readonly limit: number
  /** Only turns that contain this envelope. */
  readonly of?: number
  /** Only calls before this seq. */
  readonly callsBefore?: number
  /** Includes the result sizes per tool. */
  readonly sizes?: boolean
}

/** Limits of one request: turns, envelopes and bytes; the answer says where to continue. */
const [maxTurns, maxEnvelopes, maxBytes] = [2000, 20_000, 8 * 1024 * 1024]
const turnsAtOnce = 32
/** Calls per turn in one answer. */
const maxCallsInAnswer = 500

/** A page of the turns of one agent. */
interface TurnPage {
  /** Ordered by turn number. */
  readonly turns: readonly TurnInfo[]
  /** `before` of the page of earlier turns; `undefined` = none. That page may be empty. */
  readonly next: number | undefined
}

/** The latest turns of an agent, or those before a given one, with at least one readable envelope. */
export async function readTurns(
  index: TurnIndex,
  folded: FoldedTurns,
  { agent, before = Number.MAX_SAFE_INTEGER, limit, of, callsBefore = Infinity, sizes = false }: TurnQuery,
  reader: Reader,
  space: Pick<Space, 'log' | 'parsed' | 'state' | 'decideAudience' | 'safety'>,
  passed: Passed,
): Promise<TurnPage> {
  const describe = sizes ? turnDetail : turnInfo
  const rights = new LoggedRights(space, reader)
  const turns: TurnInfo[] = []
  let [next, looked, envelopes, bytes] = [before, 0, 0, 0]
  for (;;) {
    const count = Math.min(turnsAtOnce, limit + 1 - turns.length)
    const some = of === undefined ? index.turns(agent, next, count) : turnsOf(index, of, agent, next)
    await folded.prepare(index, some, reader)
    for (const beginning of some) {
      if (looked === maxTurns || envelopes >= maxEnvelopes || bytes >= maxBytes)
        return { turns: turns.reverse(), next }
      const look = await folded.look(index, beginning, reader, callsBefore)
      const { view } = look
      const part = { ...allCalls, ...view?.calls, before: callsBefore }
      const info =
        view &&
        describeView(view, (record) => describe(record, (text) => space.safety.guard(text), part, rights))
      passed(countCharacters(look))
      // Reads one turn more than the limit, to find out whether there is an earlier readable turn.
      if (turns.length === limit && info !== undefined) return { turns: turns.reverse(), next }
      if (info !== undefined) turns.push(info)
      next = beginning.number ?? next
      envelopes += look.envelopes
      bytes += look.bytes
      looked++
      await yieldIfBusy()
    }
    if (some.length < count) return { turns: turns.reverse(), next: undefined }
  }
}

const turnsOf = (index: TurnIndex, seq: number, agent: string, before: number): Beginning[] =>
  index.turnsOf(seq).filter((turn) => turn.agent === agent && turn.number !== null && turn.number < before)

const allCalls: CallPart = { from: 0, before: Infinity, hasEarlier: false, maxCalls: maxCallsInAnswer }

function describeView(
  { record, isTruncated }: TurnView,
  describe: (record: TurnView['record']) => TurnInfo | undefined,
): TurnInfo | undefined {
  const info = describe(record)
  return info && isTruncated ? { ...info, truncated: true } : info
}
