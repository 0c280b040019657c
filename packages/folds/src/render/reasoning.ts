import type { ReasoningStep } from '../steps/steps.js'
import { cut, onOneLine } from '../text.js'
import type { TurnInfo, TurnReasoning } from '../turns/turn-info.js'
import {
  groupDecisions,
  outcomeText,
  parametersText,
  rationaleText,
  type ShownDecision,
  toolText,
} from './outcome.js'

/** Turns from `turnDetail` or the HTTP API, possibly without `reasoning`. */
export type ShownTurn = Omit<TurnInfo<ShownDecision>, 'reasoning'> &
  Partial<Pick<TurnInfo<ShownDecision>, 'reasoning'>> & {
    /** Whether the first envelopes of the turn were pruned, so that earlier tool calls are unknown. */
    readonly truncated?: boolean
  }

export interface Thread {
  /** The turns of the thread, ordered by number. */
  readonly turns: readonly ShownTurn[]
  /** `false` if the user named another thread than that of the current conversation. */
  readonly isActive: boolean
}

const maxEchoChars = 20

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
  const echo = cut(onOneLine(asked), maxEchoChars)
  return turn === undefined
    ? [style.section(`  ✗ No reasoning data for turn ${echo} in this thread.`)]
    : show(turn)
}

function lines(turn: ShownTurn, isNamed: boolean, style: Style): string[] {
  const failed = turn.error === undefined ? [] : [style.section(`  ✗ ${onOneLine(turn.error)}`)]
  return [...callLines(turn, isNamed, style), ...failed]
}

function callLines(
  { turn_number, tool_calls, reasoning, truncated = false }: ShownTurn,
  isNamed: boolean,
  style: Style,
): string[] {
  if (tool_calls.length === 0 && !truncated)
    return [style.section(`  ─ Turn ${turn_number} had no tool calls.`)]
  if (!reasoning) return [style.section(`  ─ No reasoning recorded for turn ${turn_number}.`)]
  return reasoningDetail(reasoning, isNamed, style)
}

export type ShownReasoning = TurnReasoning<ShownDecision>

/** The lines after an answer: a blank one, the header, and each tool. Empty without tools. */
export function reasoningBlock(reasoning: ShownReasoning | null, style: Style = plainStyle): string[] {
  if (reasoning === null || reasoning.tool_decisions.length === 0) return []
  return ['', ...reasoningLines(reasoning, `  ┄ Reasoning (turn ${reasoning.turn_number})`, false, style)]
}

/** The lines of `/reasoning` for a turn. `isNamed`: the header names the thread, which may not be the active one. */
export function reasoningDetail(
  reasoning: ShownReasoning,
  isNamed: boolean,
  style: Style = plainStyle,
): string[] {
  const { thread_id, turn_number } = reasoning
  const where = isNamed ? `thread ${onOneLine(thread_id)}, turn ${turn_number}` : `turn ${turn_number}`
  return reasoningLines(reasoning, `  ┄ Reasoning — ${where}`, true, style)
}

/** `isDetailed`: with a separate line for the rationale, and blank lines between tools. */
function reasoningLines(
  reasoning: ShownReasoning,
  header: string,
  isDetailed: boolean,
  style: Style,
): string[] {
  const lines = [style.section(header), ...narrativeLines(reasoning, style)]
  for (const { group, decisions } of groupDecisions(reasoning.tool_decisions)) {
    if (isDetailed) lines.push('')
    if (group !== null) lines.push(style.section(`  ┄ [parallel batch ${group}]`))
    const [arrow, indent] = group === null ? ['', '    '] : ['  ↳ ', '       ']
    for (const [index, decision] of decisions.entries()) {
      if (isDetailed && index > 0) lines.push('')
      const tool = `${style.section(`  ┄ ${arrow}`)}${style.tool(toolText(decision))}`
      const why = rationaleText(decision)
      const parameters = parametersText(decision)
      const outcome = outcomeText(decision)
      if (isDetailed) {
        const details = [`rationale: ${why}`, `params:    ${parameters}`, `outcome:   ${outcome}`]
        lines.push(tool, ...details.map((detail) => style.section(indent + detail)))
      } else {
        lines.push(`${tool}${style.section(`  ${why}`)}`)
        lines.push(style.section(`${indent}params: ${parameters}`), style.section(`${indent}→ ${outcome}`))
      }
    }
  }
  return lines
}

/** The line of the narrative; none if it is missing or blank. */
const narrativeLines = ({ narrative }: ShownReasoning, style: Style): string[] =>
  narrative === null || narrative === undefined || narrative.trim() === ''
    ? []
    : [style.section(`  Narrative: "${onOneLine(narrative)}"`)]

/** Styles for the parts of a terminal text. */
export interface Style {
  /** Styles a reasoning section except for the names of tools. */
  section(text: string): string
  tool(text: string): string
}

export const plainStyle: Style = { section: (text) => text, tool: (text) => text }

const sgr = (codes: string, text: string): string => (text === '' ? '' : `\u001B[${codes}m${text}\u001B[0m`)

/** Dim gray sections, cyan tool names. */
export const colourStyle: Style = { section: (text) => sgr('2;90', text), tool: (text) => sgr('36', text) }

const maxPreviewChars = 80
/** Separates tool and result in the content of a step. */
const resultArrow = ' -> '

/** Previews a result below the line `● <tool>`, such as `▸ Found 3 documents`, from its step in the audit. */
export function previewLines(
  { phase, content }: Pick<ReasoningStep, 'phase' | 'content'>,
  style: Style = plainStyle,
): string[] {
  const said = content.slice(content.indexOf(resultArrow) + resultArrow.length)
  const preview = cut(onOneLine(phase === 'error' ? `error: ${said}` : said), maxPreviewChars)
  return preview === '' ? [] : [style.section(`    ▸ ${preview}`)]
}
