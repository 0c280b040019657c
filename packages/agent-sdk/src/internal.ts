/**
 * Exports for MEUP's own packages and tests. They may change with any version.
 *
 * @module
 * @hidden
 */

export { dialWs } from './adapters/ws.js'
export { Answers, Patience } from './agent/answers.js'
export { audienceOf } from './agent/delegation.js'
export type { LiveText } from './agent/deltas.js'
export { quoteForPrompt } from './agent/frame-message.js'
export { respond } from './agent/respond.js'
export type { RunAgentOptions } from './agent/run-agent.js'
export { splitThoughts, ThoughtStream } from './agent/thought-stream.js'
export { abortTurn } from './agent/turns.js'
export { getRetryAfterMs } from './client/errors.js'
export type { Status } from './client/management.js'
export type { Pause } from './client/pauses.js'
export type { Progress, Settlement } from './client/proposal.js'
export { type ApproveOptions, getAlwaysCapability } from './client/proposals.js'
export type { VisibilityChange } from './client/space-state.js'
export type { Dial, DialRequest, Fetch, Transport, TransportEvents } from './client/transport.js'
export { type ElicitResult, type OnElicitation, thinkingLevels } from './client/types.js'
export type { ReasoningDetail, TranscriptMode } from './model/options.js'
export { nameTools } from './model/toolbox.js'
export { SpaceClient } from './space-client.js'
