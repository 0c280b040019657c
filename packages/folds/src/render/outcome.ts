import type { DecisionPayload } from '@meup/protocol'
import type { ResultSize } from '../mcp/result.js'
import { brief, inlineJson, onOneLine, printable, reasonText } from '../text.js'
import { cancelledText } from '../turns/ending-text.js'
import type { ToolDecisionInfo } from '../turns/turn-info.js'

/**
 * A tool call for display. Turns that the caller has folded itself have the size of its result; those from the HTTP API do not.
 */
export interface ShownDecision extends ToolDecisionInfo {
  readonly size?: ResultSize | null
}

/** Maximum characters of the parameters. */
const maxParametersChars = 200

/**
 * The outcome of a call in words: `success (142 chars)`, `3 items`, `error`, `rejected`, `cancelled: too slow`; `pending` if it
 * has none yet.
 */
export function outcomeText({
  outcome,
  size,
  cancelled,
}: Pick<ShownDecision, 'outcome' | 'size' | 'cancelled'>): string {
  if (cancelled !== undefined) return cancelledText(cancelled)
  if (outcome !== 'success' || size === undefined || size === null) return outcome ?? 'pending'
  const { count, unit } = size
  const number = count.toLocaleString('en')
  if (unit === 'chars' || unit === 'bytes') return `success (${number} ${unit})`
  return `${number} ${onOneLine(unit)}`
}

/** The parameters on one line, already masked. */
export const parametersText = ({ parameters }: ShownDecision): string =>
  printable(inlineJson(parameters, maxParametersChars))

export const rationaleText = ({ rationale, rationale_given }: ShownDecision): string =>
  rationale_given === false ? reasonText(null) : `"${onOneLine(rationale)}"`

export const toolText = ({ tool_name }: ShownDecision): string => onOneLine(tool_name)

/** Groups decisions for display: a parallel group is placed at its first member. */
export function groupDecisions<Decision extends ShownDecision>(
  decisions: readonly Decision[],
): readonly { readonly group: number | null; readonly decisions: readonly Decision[] }[] {
  const groups: { group: number | null; decisions: Decision[] }[] = []
  for (const decision of decisions) {
    const group = decision.parallel_group
    const known = group === null ? undefined : groups.find((each) => each.group === group)
    if (known === undefined) groups.push({ group, decisions: [decision] })
    else known.decisions.push(decision)
  }
  return groups
}

/** Maximum characters of the arguments, and of the rationale. */
const maxAttemptChars = 200

/** Arguments and rationale of a refused tool call, on one line; `''` if the decision is not about one. */
export function attemptText({ attemptedArguments, attemptedRationale }: Partial<DecisionPayload>): string {
  if (attemptedArguments === undefined) return ''
  // Long arguments are logged as a string: a prefix of their JSON.
  const isText = typeof attemptedArguments === 'string'
  const parameters = isText ? attemptedArguments : inlineJson(attemptedArguments, maxAttemptChars)
  const reason =
    attemptedRationale === undefined ? reasonText(null) : `"${brief(attemptedRationale, maxAttemptChars)}"`
  return `${brief(parameters, maxAttemptChars)} — ${reason}`
}
