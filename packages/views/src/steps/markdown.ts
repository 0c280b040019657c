import { printable } from '../render/printable.js'
import { anyLabel, phaseLabels } from './phases.js'
import type { ReasoningStep } from './step.js'

/** What an export shows of a turn. */
export interface ExportedTurn {
  readonly id: string
  readonly startedAt: string
}

export type ExportedStep = Omit<ReasoningStep, 'source' | 'id' | 'turn_id' | 'created_at'>

const emptyTurn = 'No reasoning steps were recorded in this turn.'

/** One turn of the audit for people; ends in a line break. */
export function exportMarkdown({ id, startedAt }: ExportedTurn, steps: readonly ExportedStep[]): string {
  const inOrder = [...steps].sort((one, other) => one.step_number - other.step_number)
  const paragraphs = inOrder.length === 0 ? [emptyTurn] : inOrder.map(paragraphOf)
  return [`## Turn ${id} (${startedAt})`, ...paragraphs, ''].join('\n\n').replace(/\n+$/, '\n')
}

/**
 * Writes several turns one below the other, piece by piece: gives a function that is told the next steps, and gives the text
 * that goes on from what it gave before. A turn may come in as many pieces as it likes, one after another.
 */
export function markdownWriter(): (turn: ExportedTurn, steps: readonly ExportedStep[]) => string {
  let last: string | undefined
  return (turn, steps) => {
    const text = exportMarkdown(turn, steps)
    const before = last
    last = turn.id
    if (before === turn.id) return text.slice(text.indexOf('\n') + 1)
    return before === undefined ? text : `\n${text}`
  }
}

/** Several turns, one below the other. */
export function exportThread(
  turns: readonly { readonly turn: ExportedTurn; readonly steps: readonly ExportedStep[] }[],
): string {
  const write = markdownWriter()
  return turns.map(({ turn, steps }) => write(turn, steps)).join('')
}

function paragraphOf(step: ExportedStep): string {
  const {
    phase,
    content,
    linked_tool_call: call,
    linked_policy_decision: policy,
    linked_approval_request: approval,
  } = step
  const links = [
    call === null ? '' : ` (tool_call: ${call})`,
    policy === null ? '' : ` (policy: ${policy})`,
    approval === null ? '' : ` (approval: ${approval})`,
  ]
  return `${phaseLabels[phase]} ${quoted(content)}${links.join('')}`
}

/** A text may not look as if it were the next turn or the next step. */
const quoted = (content: string): string =>
  printable(content)
    .split('\n')
    .map((line, index) => (index > 0 && looksLikeOurs.test(line) ? `\\${line.trimStart()}` : line))
    .join('\n')

const looksLikeOurs = new RegExp(`^\\s*(?:#|${anyLabel.source})`)
