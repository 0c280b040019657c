import { takeEntrance } from './adapters/entrance.js'
import { type ConnectOptions, readEnvironment } from './adapters/environment.js'
import { dialWs } from './adapters/ws.js'
import { openSpace } from './open-space.js'
import type { SpaceClient } from './space-client.js'

/**
 * Connects to a space. Missing options are read from MEUP_URL, MEUP_SPACE, MEUP_TOKEN and MEUP_PARTICIPANT, or from a `.meup`
 * folder; in a browser there are neither. Rejects with `ProtocolError` if the gateway refuses, with `ConnectionError` if it is
 * unreachable.
 */
export async function connect(options: ConnectOptions = {}): Promise<SpaceClient> {
  const enter = options.url === undefined ? takeEntrance() : undefined
  if (enter !== undefined) return enter()
  return openSpace(dialWs, readEnvironment(options), options.openProposals)
}

// Connect: the client, its options, and types of envelopes and state.

export type { AnyEnvelope } from '@meup/protocol'
export { type ConnectOptions, readEnvironment } from './adapters/environment.js'
export type { Answer, BaseClient } from './client/base-client.js'
export type { OpenRun } from './client/space-state.js'
export type { ChatOptions, Draft, SpaceEvents } from './client/types.js'
export type { WaitOptions } from './client/wait.js'
export type { SpaceClient } from './space-client.js'

// Turns and reasoning: answering questions, publishing thoughts, and running agents of other frameworks.

export type { ControlHooks } from './agent/control.js'
export type { Review, ReviewOptions } from './agent/delegation.js'
export type { History, HistoryMessage, MemoryBounds } from './agent/history.js'
export type { Reasoning, ReasonOptions, ToolCall } from './agent/reasoning.js'
export { type AgentEvent, type AgentRun, runAgent } from './agent/run-agent.js'
export type { Turn } from './agent/turn.js'
export type { TurnOptions } from './agent/turns.js'
export type { ThinkingLevel } from './client/types.js'

// Tools: offering own tools, and calling tools of other participants.

export {
  type OwnTool,
  type ToolContext,
  type ToolDefinition,
  type ToolHandler,
  tool,
} from './agent/own-tool.js'
export type { InputSchema, JsonSchema, StandardSchema } from './agent/schemas.js'
export type { CallableTool } from './agent/space-tools.js'
export type { Fallback } from './agent/tools.js'
export type { ToolResult } from './client/tool-result.js'
export type { CallOptions } from './client/types.js'
export { offerTools } from './model/offer-tools.js'

// Models: agents with a language model, and formatting of prompts.

export { frameMessage, framingRule } from './agent/frame-message.js'
export type { ToolChoice } from './agent/tool-choice.js'
export type { AgentModel, AgentOptions, ModelSettings } from './model/options.js'

// People's decisions: proposals, grants and invitations.

export type { Grant } from './client/management.js'
export type { OpenProposal, Proposal, ProposalDraft, ProposalOutcome } from './client/proposal.js'
export type { Proposals } from './client/proposals.js'

// Errors: what methods throw.

export { ProtocolError } from '@meup/protocol'
export { ConnectionError, type LocalErrorCode, type LocalErrorDetails, ToolError } from './client/errors.js'
export { ProposalError } from './client/proposal.js'
