import { type ConnectOptions, readEnvironment } from './adapters/environment.js'
import { dialWs } from './adapters/ws.js'
import { Space } from './participant/space.js'

/**
 * Enters a space. What is left out is taken from MEUP_URL, MEUP_SPACE, MEUP_TOKEN and MEUP_PARTICIPANT, or from a
 * `.meup` folder. Rejects with `ProtocolError` when the gateway refuses, `ConnectionError` when it cannot be reached.
 */
export const connect = async (options: ConnectOptions = {}): Promise<Space> =>
  Space.open(dialWs, readEnvironment(options))

export { type AnyEnvelope, ProtocolError } from '@meup/protocol'
export { type ConnectOptions, readEnvironment } from './adapters/environment.js'
export { dialWs } from './adapters/ws.js'
export type { InputSchema, StandardSchema } from './agent/schema.js'
export type { Fallback, ToolContext, ToolDefinition, ToolHandler } from './agent/tools.js'
export { Turn } from './agent/turn.js'
export type { TurnOptions } from './agent/turns.js'
export type { UpkeepHooks } from './agent/upkeep.js'
export type { AgentModel, ModelSettings } from './model/language-model.js'
export type { AgentLimits, AgentOptions, ReasoningDetail } from './model/options.js'
export type { SpaceTool } from './model/tool-names.js'
export type { ToolChoice } from './model/toolbox.js'
export { ConnectionError, type LocalErrorCode, ToolError } from './participant/errors.js'
export type { ConnectionStatus, SpaceEvents } from './participant/events.js'
export type { Pause } from './participant/pauses.js'
export type { Progress } from './participant/progress.js'
export type { Run, VisibilityChange } from './participant/runs.js'
export type { CallOptions, ChatOptions, Draft, Seat } from './participant/seat.js'
export { type Answer, Space } from './participant/space.js'
export type { Dial, DialRequest, Transport, TransportEvents } from './participant/transport.js'
export type { WaitOptions } from './participant/wait.js'
export { Reasoning, type ReasonOptions, type ThoughtOptions, type ToolCall } from './reasoning/reasoning.js'
export type { ToolResult } from './tool-call/tool-result.js'
export type { Grant, GrantOptions, Revocable } from './trust/grants.js'
export type {
  Invitation,
  KickOptions,
  PauseOptions,
  Status,
  StatusOptions,
} from './trust/management.js'
export type { OpenProposal } from './trust/open-proposal.js'
export type { ProposalsEvents } from './trust/open-proposals.js'
export {
  type Proposal,
  type ProposalDraft,
  ProposalError,
  type ProposalOutcome,
  type ProposeOptions,
  type Settlement,
} from './trust/proposal.js'
export type { ApproveOptions, Proposals, Rejection } from './trust/proposals.js'
