export type { ChainFilter, LogEntry, TranscriptRecord } from './chain.js'
export type { Commit, CommitOptions } from './commit.js'
export { type ChainVerdict, verifyCommits } from './commit.js'
export { type CompileOptions, compileTurn, type PromptMessage, type ReplayPolicy } from './compile.js'
export type { Usage } from './content.js'
export {
  type Annotation,
  type AssistantContent,
  type Content,
  type ContentHints,
  type ContentType,
  contentHints,
  type ErrorContent,
  Priority,
  type PromptContent,
  type ReasoningContent,
  type Replay,
  type ToolContent,
  type UserContent,
} from './content.js'
export { TranscriptError, type TranscriptErrorCode, type TranscriptErrorDetails } from './errors.js'
export type { ReasoningChoice, RecordedSpace } from './from-space.js'
export { type FollowedSpace, followSpace, fromSpace } from './from-space.js'
export type { ChatResponse, GenerateOptions, GenerationConfig, ModelClient } from './generate.js'
export { type RenderOptions, renderDiff, renderFull, renderLog } from './render.js'
export { type CommitDraft, type EnvelopeLink, MemoryTranscript, type TranscriptStore } from './store.js'
export { type OpenOptions, openTranscript, type Transcript, type TranscriptOptions } from './transcript.js'
