export { Bounded } from './bounded.js'
export {
  type ContextChange,
  type ContextFold,
  type ContextOptions,
  type ContextSnapshot,
  createContextFold,
} from './contexts/context-fold.js'
export type { ContextNode, ContextView, Reference } from './contexts/context-view.js'
export { isLate } from './contexts/late.js'
export { contextTree } from './contexts/tree.js'
export type { Fold } from './fold.js'
export { jsonLines } from './json-lines.js'
export { cancellationOf, isNotification, isToolCall, parametersOf, toolNameOf } from './mcp/call.js'
export { defaultGuard } from './mcp/guard.js'
export { type Guard, guarded, type Redacted, redact } from './mcp/redact.js'
export { outcomeOf, type Result, type ResultSize, readResult } from './mcp/result.js'
export { shownToolName } from './mcp/shown-name.js'
export { takenBack } from './mcp/taken-back.js'
export { Oldest } from './oldest.js'
export {
  detailsText,
  fieldsText,
  payloadText,
  thoughtName,
  thoughtText,
  withoutThoughtName,
  withThoughtName,
} from './payload-text.js'
export {
  createPresenceFold,
  type PresenceFold,
  type PresenceSnapshot,
  type PresenceView,
} from './presence.js'
export { createProposalFold } from './proposals/guarded-fold.js'
export {
  createProposalFoldWith,
  type ProposalFold,
  type ProposalSnapshot,
} from './proposals/proposal-fold.js'
export type { Fulfilment, ProposalView, Refusal } from './proposals/proposal-view.js'
export { attemptText } from './render/attempt.js'
export { inlineJson } from './render/inline-json.js'
export { cancelledText, inGroups, outcomeText, type ShownDecision } from './render/outcome.js'
export { brief, onOneLine, printable, printableJson } from './render/printable.js'
export { reasoningBlock, reasoningDetail, type ShownReasoning } from './render/reasoning.js'
export { reasoningCommand, type ShownTurn, type Thread } from './render/reasoning-command.js'
export { createStatusLines, previewLines } from './render/status.js'
export { colourStyle, plainStyle, type Style } from './render/style.js'
export { everything, type MayRead, type Quoted, type Source, sourceOf } from './source.js'
export { type ParsedStep, parseThinking } from './steps/parse-thinking.js'
export { isPhase, phaseBits, phaseLabels, phaseOfLabel } from './steps/phases.js'
export type { ReasoningStep, StepDraft } from './steps/step.js'
export { calledTool, stepsOf } from './steps/steps-of.js'
export { thoughtSteps } from './steps/thought-steps.js'
export {
  contextMarkdown,
  contextMarkdownWriter,
  type MarkdownOptions,
  type MarkdownWriter,
  markdownHeader,
  markdownLegend,
  type NarratedTurn,
  turnMarkdown,
  turnMarkdownWriter,
} from './steps/turn-markdown.js'
export { seqOfUlid, ulidsOf } from './steps/ulid.js'
export { cut, head, isWithheld, messageOf, reasonText } from './text.js'
export { traceEndpoint } from './trace/endpoint.js'
export {
  parseTraceparent,
  type SpanContext,
  spanIdOf,
  traceIdOf,
  traceparentOf,
} from './trace/span-context.js'
export { Traces } from './trace/traces.js'
export { createTranscript, type Message, type Transcript, type TranscriptSnapshot } from './transcript.js'
export { GrantLog, grantKinds, type LoggedGrant } from './trust/grant-log.js'
export { type Holdings, holdingsOf } from './trust/holdings.js'
export { Assigner, type AssignSnapshot } from './turns/assign.js'
export { attemptOf } from './turns/attempt.js'
export { FoldedTurn, type TurnOptions } from './turns/fold-turn.js'
export { type Assigned, type Beginning, endingRoles, type Mark, Role } from './turns/mark.js'
export { endOf } from './turns/outcome.js'
export {
  type JobReasoning,
  type ReasoningUpdate,
  reasoningEvent,
  toldDecisions,
} from './turns/reasoning-event.js'
export type { Outcome, Run, ToolDecision, TurnRecord, TurnState } from './turns/record.js'
export {
  type CallPart,
  type DetailedDecision,
  type ToolDecisionInfo,
  type TurnInfo,
  type TurnReasoning,
  turnDetail,
  turnInfo,
} from './turns/turn-info.js'
