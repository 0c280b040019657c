export { type Annotation, Priority } from './annotation.js'
export type { LogEntry, LogFilter } from './chain.js'
export type { Commit, CommitOptions } from './commit.js'
export type { CompileOptions } from './compile.js'
export {
  type AssistantContent,
  type Content,
  type ContentHints,
  type ContentType,
  contentHints,
  type ReasoningContent,
  type Replay,
  type ToolContent,
  type UserContent,
} from './content.js'
export { TranscriptError, type TranscriptErrorCode } from './errors.js'
export { type FollowedSpace, followSpace, fromSpace } from './from-space.js'
export type { ChatResponse, GenerateOptions } from './generate.js'
export type { GenerationConfig, ModelClient } from './model-client.js'
export type { PromptMessage } from './prompt.js'
export type { TranscriptRecord } from './record.js'
export { type RenderOptions, renderDiff, renderFull, renderLog } from './render.js'
export type { ReplayPolicy } from './replay.js'
export type { ReasoningChoice, SpaceView } from './space-fold.js'
export { type OpenOptions, openTranscript, type Transcript, type TranscriptOptions } from './transcript.js'
export type { Usage } from './usage.js'
export { type Verdict, verifyCommits } from './verify.js'
