import { type DecisionPayload, type Envelope, isThought, Kind } from '@meup/protocol'
import { guardedToolName, isNotification } from '../mcp/call.js'
import type { Guard } from '../mcp/redact.js'
import { readResult } from '../mcp/result.js'
import { head } from '../text.js'
import type { StepDraft } from './step.js'
import { thoughtSteps } from './thought-steps.js'

/** Characters that are kept of what a tool said. */
const longestResult = 500

/** What a step says of a call whose request is not there any more. */
const unknownTool = 'a tool'

/** The tool that an envelope calls or proposes to call; `undefined`: it is no call. */
export function calledTool({ kind, payload }: Envelope, guard: Guard): string | undefined {
  const isCall = kind === Kind.mcpProposal || (kind === Kind.mcpRequest && !isNotification(payload))
  return isCall ? guardedToolName(payload, guard) : undefined
}

/**
 * The steps that an envelope makes, in their order [MEUP-10.5]. `answered`: the calls that a response answers, by their ids,
 * with their tools; without one where the log has the request no more.
 */
export function stepsOf(
  envelope: Envelope,
  answered: readonly (readonly [id: string, tool: string | undefined])[],
  guard: Guard,
): readonly StepDraft[] {
  const { id, kind, payload } = envelope
  if (kind === Kind.mcpResponse) {
    const { outcome, text } = readResult(payload, guard)
    const phase = outcome === 'error' ? 'error' : 'execute'
    const said = head(text, longestResult)
    return answered.map(([call, tool = unknownTool]) => ({
      phase,
      content: `${tool} -> ${said}`,
      linked_tool_call: call,
    }))
  }
  if (kind === Kind.mcpProposal) {
    const content = `Awaiting human approval for ${guardedToolName(payload, guard)}`
    return [{ phase: 'waiting_approval', content, linked_approval_request: id }]
  }
  if (kind === Kind.systemDecision) {
    const { reasonCode, message } = payload as Partial<DecisionPayload>
    const content = `Policy ${String(reasonCode)}: ${String(message)}`
    return [{ phase: 'waiting_approval', content, linked_policy_decision: id }]
  }
  return isThought(kind) ? thoughtSteps(payload) : []
}
