import type { TurnReasoning } from '../turns/turn-info.js'
import {
  inGroups,
  outcomeText,
  parametersText,
  rationaleText,
  type ShownDecision,
  toolText,
} from './outcome.js'
import { onOneLine } from './printable.js'
import { plainStyle, type Style } from './style.js'

export type ShownReasoning = TurnReasoning<ShownDecision>

/** The lines that follow an answer by themselves: a blank one, the header, and each tool. None without tools. */
export function reasoningBlock(reasoning: ShownReasoning | null, style: Style = plainStyle): string[] {
  if (reasoning === null || reasoning.tool_decisions.length === 0) return []
  const lines = [
    '',
    style.section(`  ┄ Reasoning (turn ${reasoning.turn_number})`),
    ...narrativeOf(reasoning, style),
  ]
  for (const { group, decisions } of inGroups(reasoning.tool_decisions)) {
    if (group !== null) lines.push(style.section(`  ┄ [parallel batch ${group}]`))
    for (const decision of decisions) {
      const [arrow, indent] = group === null ? ['', '    '] : ['  ↳ ', '       ']
      lines.push(
        `${style.section(`  ┄ ${arrow}`)}${style.tool(toolText(decision))}${style.section(`  ${rationaleText(decision)}`)}`,
        style.section(`${indent}params: ${parametersText(decision)}`),
        style.section(`${indent}→ ${outcomeText(decision)}`),
      )
    }
  }
  return lines
}

/** What `/reasoning` shows of a turn. `isNamed`: the header names the thread, as it is not the active one alone. */
export function reasoningDetail(
  reasoning: ShownReasoning,
  isNamed: boolean,
  style: Style = plainStyle,
): string[] {
  const { thread_id, turn_number } = reasoning
  const where = isNamed ? `thread ${onOneLine(thread_id)}, turn ${turn_number}` : `turn ${turn_number}`
  const lines = [style.section(`  ┄ Reasoning — ${where}`), ...narrativeOf(reasoning, style)]
  for (const { group, decisions } of inGroups(reasoning.tool_decisions)) {
    if (group !== null) lines.push('', style.section(`  ┄ [parallel batch ${group}]`))
    for (const decision of decisions) {
      const [arrow, indent] = group === null ? ['', '    '] : ['  ↳ ', '       ']
      if (group === null || decision !== decisions[0]) lines.push('')
      lines.push(
        `${style.section(`  ┄ ${arrow}`)}${style.tool(toolText(decision))}`,
        style.section(`${indent}rationale: ${rationaleText(decision)}`),
        style.section(`${indent}params:    ${parametersText(decision)}`),
        style.section(`${indent}outcome:   ${outcomeText(decision)}`),
      )
    }
  }
  return lines
}

/** Without a narrative the line is left out. */
const narrativeOf = ({ narrative }: ShownReasoning, style: Style): string[] =>
  narrative === null || narrative === undefined || narrative.trim() === ''
    ? []
    : [style.section(`  Narrative: "${onOneLine(narrative)}"`)]
