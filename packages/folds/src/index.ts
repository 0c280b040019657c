export { Bounded, Oldest } from './bounded.js'
export * from './capabilities/explain.js'
export { getNarrowestCapability } from './capabilities/narrowest.js'
export * from './capabilities/right.js'
export * from './capabilities/sentence.js'
export { findCapabilityWarnings } from './capabilities/warnings.js'
export {
  type ContextFold,
  type ContextOptions,
  type ContextSnapshot,
  createContextFold,
} from './contexts/context-fold.js'
export * from './contexts/context-view.js'
export { summaryText, ThoughtSummaries, type ThoughtSummary } from './contexts/thought-summaries.js'
export { defaultGuard } from './default-guard.js'
export * from './describe.js'
export { getAnswerState, getEnding } from './ending.js'
export { hasUnseen, indentJson, spellOut } from './exact-json.js'
export { FairMap } from './fair-map.js'
export type { Fold } from './fold.js'
export { inertMarkdown } from './markdown.js'
export { readBlocks } from './mcp/blocks.js'
export * from './mcp/calls.js'
export { hasHalfCharacter, markReplaced } from './mcp/changed.js'
export {
  type ExactText,
  exactText,
  type ProposedCall,
  quoteReason,
  quoteToolName,
} from './mcp/exact-proposal.js'
export { type FieldValue, type Filled, type Form, type FormField, readFilled, readForm } from './mcp/form.js'
export { dropNulls, dropResultNulls, dropToolNulls } from './mcp/nulls.js'
export { Pages } from './mcp/pages.js'
export {
  findEnded,
  getAnswerer,
  getEndedSession,
  getStopWords,
  isProgramEnd,
  PROGRAM_ENDED,
  programEnded,
  programEndedReason,
  programEndedText,
  programEndedWords,
  proposerEndedText,
  unansweredText,
} from './mcp/program-ended.js'
export { getCommandExitCode, getOutcome, type Result, type ResultSize, readResult } from './mcp/result.js'
export { shortenArguments } from './mcp/short-arguments.js'
export { describeState, isFailure, programEventText, type StateText } from './participant-text.js'
export * from './payload-text.js'
export * from './redact.js'
export { outcomeText, type ShownDecision } from './render/outcome.js'
export * from './render/reasoning.js'
export * from './render/turn-markdown.js'
export { getLikeness } from './risk/likeness.js'
export { assessRisk, type Risk, type ToolEffect } from './risk/risk.js'
export { type Match, searchedText, TextSearch } from './search.js'
export * from './source.js'
export * from './space/answers.js'
export {
  type Call,
  type CallChange,
  type CallKind,
  type CallState,
  type CallStore,
  Calls,
  type IsGone,
  proposalKinds,
  RecentCalls,
  type WithdrawalCause,
} from './space/calls.js'
export * from './space/contexts.js'
export * from './space/grants.js'
export {
  type ParticipantState,
  Participants,
  type ParticipantsSnapshot,
  unnamedKind,
} from './space/participants.js'
export { cutReason, Pauses, type Restriction, restrictionInfo } from './space/pauses.js'
export { Programs } from './space/programs.js'
export {
  type Fulfilment,
  isOpenProposal,
  type ProposalEnd,
  type ProposalSnapshot,
  type ProposalView,
  ProposalViews,
} from './space/proposals.js'
export * from './space/space-view.js'
export { type WaitingChat, WaitingChats } from './space/waiting.js'
export * from './steps/steps.js'
export { createUlids, getUlidSeq } from './steps/ulid.js'
export { suggest } from './suggest.js'
export {
  brief,
  cut,
  formatDuration,
  getMessage,
  getRationale,
  head,
  inlineJson,
  isObject,
  isWithheld,
  keepOffMargin,
  onOneLine,
  printable,
  printableJson,
  reasonText,
} from './text.js'
export * from './traces.js'
export * from './transcript.js'
export { Assigner, type AssignSnapshot } from './turns/assign.js'
export { FoldedTurn, type FoldTurnOptions } from './turns/fold-turn.js'
export { type Assigned, type Beginning, endingRoles, type Mark, Role } from './turns/marks.js'
export * from './turns/reasoning-event.js'
export type {
  Outcome,
  Run,
  ToolDecision,
  TurnRecord,
  TurnState,
} from './turns/record.js'
export * from './turns/turn-info.js'
export * from './turns/turn-stream.js'
export { type RunUsage, readRunUsage } from './usage.js'
export * from './why/causes.js'
export * from './why/explain.js'
export * from './why/rank.js'
