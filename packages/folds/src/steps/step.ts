import type { Phase } from '@meup/protocol'
import type { Source } from '../source.js'

/** One step of the audit: a row of `reasoning_steps`, and where it was said. */
export interface ReasoningStep {
  /** A ULID; later steps have higher ones. */
  readonly id: string
  readonly turn_id: string
  /** From 0 in each turn, without gaps. */
  readonly step_number: number
  readonly phase: Phase
  readonly content: string
  /** Id of the `mcp.request` whose response this is. */
  readonly linked_tool_call: string | null
  /** Id of the `system.decision`. */
  readonly linked_policy_decision: string | null
  /** Id of the `mcp.proposal`. */
  readonly linked_approval_request: string | null
  /** Time of the log: RFC 3339 UTC, never before that of an earlier step. */
  readonly created_at: string
  readonly source: Source
}

type Links = Pick<ReasoningStep, 'linked_tool_call' | 'linked_policy_decision' | 'linked_approval_request'>

/** What a step says, before it has its place in a turn. */
export interface StepDraft extends Partial<Links> {
  readonly phase: Phase
  readonly content: string
}
