import type { DecisionPayload } from '@meup/protocol'
import type { ResultSize } from '../mcp/result.js'
import { brief, inlineJson, isBlank, onOneLine, printable, reasonText } from '../text.js'
import type { ToolDecisionInfo } from '../turns/turn-info.js'

/** A decision to show: from a fold with the size of its result, from HTTP without. */
export interface ShownDecision extends ToolDecisionInfo {
  readonly size?: ResultSize | null
}

/** Characters of the parameters that are shown. */
const maxParametersChars = 200

/** Why a call was cancelled, where somebody said so. */
export const cancelledText = (reason: string): string =>
  isBlank(reason) ? 'cancelled' : `cancelled: ${onOneLine(reason)}`

/** `success (142 chars)`, `3 items`, `error`, `rejected`, `cancelled: too slow`; `pending` as long as there is none. */
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

/** They were redacted when the view was made. */
export const parametersText = ({ parameters }: ShownDecision): string =>
  printable(inlineJson(parameters, maxParametersChars))

export const rationaleText = ({ rationale, rationale_given }: ShownDecision): string =>
  rationale_given === false ? reasonText(null) : `"${onOneLine(rationale)}"`

export const toolText = ({ tool_name }: ShownDecision): string => onOneLine(tool_name)

/** Decisions as they are shown: those that were dispatched together stand together, where the first of them was. */
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

/** Characters of the arguments, and of the rationale. */
const maxAttemptChars = 200

/** What a tool call that was refused was to do, and why, on one line; `''` where the decision is about none. */
export function attemptText({ attemptedArguments, attemptedRationale }: Partial<DecisionPayload>): string {
  if (attemptedArguments === undefined) return ''
  // A text is the beginning of their JSON.
  const isText = typeof attemptedArguments === 'string'
  const parameters = isText ? attemptedArguments : inlineJson(attemptedArguments, maxAttemptChars)
  const reason =
    attemptedRationale === undefined ? reasonText(null) : `"${brief(attemptedRationale, maxAttemptChars)}"`
  return `${brief(parameters, maxAttemptChars)} — ${reason}`
}
