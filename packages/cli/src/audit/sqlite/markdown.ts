import { phaseLabels, printable, type ReasoningStep } from '@meup/folds'

/** What is told of a step. */
type ToldStep = Omit<ReasoningStep, 'source'>

const emptyTurn = 'No reasoning steps were recorded in this turn.'

/** One turn of the audit, as the design of the audit log writes it; ends in a line break. */
export function turnMarkdown(id: string, startedAt: string, steps: readonly ToldStep[]): string {
  const paragraphs = steps.length === 0 ? [emptyTurn] : steps.map(paragraphOf)
  return `${[`## Turn ${id} (${startedAt})`, ...paragraphs].join('\n\n')}\n`
}

function paragraphOf(step: ToldStep): string {
  const links = [
    step.linked_tool_call === null ? '' : ` (tool_call: ${step.linked_tool_call})`,
    step.linked_policy_decision === null ? '' : ` (policy: ${step.linked_policy_decision})`,
    step.linked_approval_request === null ? '' : ` (approval: ${step.linked_approval_request})`,
  ]
  return `${phaseLabels[step.phase]} ${quoted(step.content)}${links.join('')}`
}

/** A line of a text may not look like the next turn or the next step. */
const quoted = (content: string): string =>
  printable(content)
    .trim()
    .split('\n')
    .map((line, index) => (index > 0 && looksLikeOurs(line) ? `\\${line.trimStart()}` : line))
    .join('\n')

const labels = Object.values(phaseLabels)
const looksLikeOurs = (line: string): boolean =>
  ['#', ...labels].some((start) => line.trimStart().startsWith(start))
