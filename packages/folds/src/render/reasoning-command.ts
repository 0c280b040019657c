import { cut } from '../text.js'
import type { TurnInfo } from '../turns/turn-info.js'
import type { ShownDecision } from './outcome.js'
import { onOneLine } from './printable.js'
import { reasoningDetail } from './reasoning.js'
import { plainStyle, type Style } from './style.js'

/** Turns as they come from `turnDetail` or from the HTTP API, where `reasoning` may be missing. */
export type ShownTurn = Omit<TurnInfo<ShownDecision>, 'reasoning'> &
  Partial<Pick<TurnInfo<ShownDecision>, 'reasoning'>> & {
    /** Whether its first envelopes have been pruned: what tools it called then is not known. */
    readonly truncated?: boolean
  }

export interface Thread {
  /** In the order of their numbers. */
  readonly turns: readonly ShownTurn[]
  /** `false` where the user named another thread than the one of the conversation. */
  readonly isActive: boolean
}

const longestEcho = 20

/** Lines of `/reasoning` (the latest turn that has ended), `/reasoning <number>` and `/reasoning all`. Never throws. */
export function reasoningCommand(
  argument: string,
  { turns, isActive }: Thread,
  style: Style = plainStyle,
): string[] {
  const asked = argument.trim()
  const show = (turn: ShownTurn): string[] => lines(turn, !isActive || asked === 'all', style)
  if (asked === 'all' && turns.length > 0)
    return turns.flatMap((turn, index) => [...(index > 0 ? [''] : []), ...show(turn)])
  const latest = turns.findLast(({ state }) => state !== 'running')
  if ((asked === '' && latest === undefined) || asked === 'all') {
    return [style.section('  ─ No turn has ended in this thread yet.')]
  }
  const number = /^\d{1,9}$/.test(asked) ? Number(asked) : undefined
  const turn = asked === '' ? latest : turns.find(({ turn_number }) => turn_number === number)
  const echo = cut(onOneLine(asked), longestEcho)
  return turn === undefined
    ? [style.section(`  ✗ No reasoning data for turn ${echo} in this thread.`)]
    : show(turn)
}

function lines(
  { turn_number, tool_calls, reasoning, truncated = false }: ShownTurn,
  isNamed: boolean,
  style: Style,
): string[] {
  if (tool_calls.length === 0 && !truncated)
    return [style.section(`  ─ Turn ${turn_number} had no tool calls.`)]
  if (!reasoning) return [style.section(`  ─ No reasoning recorded for turn ${turn_number}.`)]
  return reasoningDetail(reasoning, isNamed, style)
}
