import { takeEntrance } from './adapters/entrance.js'
import { type ConnectOptions, readEnvironment } from './adapters/environment.js'
import { dialWs } from './adapters/ws.js'
import { HttpClient } from './http/http-client.js'
import { SpaceClient } from './space-client.js'

/**
 * Connects to a space. Missing options come from MEUP_URL, MEUP_SPACE, MEUP_TOKEN and MEUP_PARTICIPANT, or from a `.meup`
 * folder. Rejects with `ProtocolError` when the gateway refuses, `ConnectionError` when it cannot be reached.
 */
export async function connect(options: ConnectOptions = {}): Promise<SpaceClient> {
  const enter = options.url === undefined ? takeEntrance() : undefined
  if (enter !== undefined) return enter()
  const request = readEnvironment(options)
  if (options.openProposals !== true) return SpaceClient.open(dialWs, request)
  const { proposals, head: after, epoch } = await new HttpClient(request).readProposals()
  return SpaceClient.open(dialWs, { ...request, proposals, after, epoch })
}

export { type AnyEnvelope, ProtocolError } from '@meup/protocol'
export { type ConnectOptions, readEnvironment } from './adapters/environment.js'
export { dialWs } from './adapters/ws.js'
export type { ControlHooks } from './agent/control.js'
export type { LiveText } from './agent/deltas.js'
export { frameMessage, framingRule, quoteFurtherLines, type SaidText } from './agent/frame-message.js'
export type { History, HistoryMessage, MemoryBounds } from './agent/history.js'
export {
  type OwnTool,
  type ToolAnnotations,
  type ToolContext,
  type ToolDefinition,
  type ToolHandler,
  tool,
} from './agent/own-tool.js'
export { Reasoning, type ReasonOptions, type ThoughtOptions, type ToolCall } from './agent/reasoning.js'
export { type AgentEvent, type AgentRun, type RunAgentOptions, runAgent } from './agent/run-agent.js'
export type { InputSchema, JsonSchema, StandardSchema } from './agent/schemas.js'
export type { CallableTool } from './agent/space-tools.js'
export { ThoughtStream } from './agent/thought-stream.js'
export type { SpaceTool, ToolChoice } from './agent/tool-choice.js'
export type { Fallback } from './agent/tools.js'
export { Turn, type TurnOptions } from './agent/turns.js'
export { type Answer, BaseClient, type NoAnswer } from './client/base-client.js'
export { ConnectionError, type LocalErrorCode, ToolError } from './client/errors.js'
export type {
  Grant,
  GrantOptions,
  Invitation,
  KickOptions,
  PauseOptions,
  Revocable,
  Status,
  StatusOptions,
} from './client/management.js'
export type { Pause } from './client/pauses.js'
export {
  type OpenProposal,
  type Progress,
  type Proposal,
  type ProposalDraft,
  ProposalError,
  type ProposalOutcome,
  type ProposeOptions,
  type Settlement,
} from './client/proposal.js'
export {
  type ApproveOptions,
  getAlwaysCapability,
  type Proposals,
  type ProposalsEvents,
  type ProposedRequest,
  type Rejection,
} from './client/proposals.js'
export type { LineDeadlines, ReconnectOptions } from './client/reconnect.js'
export type { Run, VisibilityChange } from './client/space-state.js'
export type { EmbeddedResource, ResultPart, ToolResult } from './client/tool-result.js'
export type { Dial, DialRequest, Fetch, Transport, TransportEvents } from './client/transport.js'
export {
  type CallOptions,
  type ChatOptions,
  type ConnectionStatus,
  type Draft,
  type ElicitResult,
  type OnElicitation,
  type SpaceEvents,
  type ThinkingLevel,
  thinkingLevels,
  type Unhandled,
} from './client/types.js'
export type { WaitOptions } from './client/wait.js'
export { type ModelTool, offerTools } from './model/offer-tools.js'
export type {
  AgentLimits,
  AgentModel,
  AgentOptions,
  ModelSettings,
  ReasoningDetail,
  TranscriptMode,
} from './model/options.js'
export { nameTools } from './model/toolbox.js'
export { SpaceClient } from './space-client.js'
