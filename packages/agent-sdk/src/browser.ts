import { dialBrowser } from './adapters/browser-ws.js'
import { Space } from './participant/space.js'
import type { DialRequest } from './participant/transport.js'

/** Enters a space from a browser. A page has no environment: say where and as whom. */
export const connect = (request: DialRequest): Promise<Space> => Space.open(dialBrowser, request)

export { dialBrowser } from './adapters/browser-ws.js'
export type { InputSchema, StandardSchema } from './agent/schema.js'
export type { Fallback, ToolContext, ToolDefinition, ToolHandler } from './agent/tools.js'
export { Turn } from './agent/turn.js'
export type { TurnOptions } from './agent/turns.js'
export { ConnectionError, type LocalErrorCode, ToolError } from './participant/errors.js'
export type { Progress } from './participant/progress.js'
export type { CallOptions, ChatOptions, Draft, Seat } from './participant/seat.js'
export { type ConnectionStatus, Space, type SpaceEvents } from './participant/space.js'
export type { Dial, DialRequest, Transport, TransportEvents } from './participant/transport.js'
export type { WaitOptions } from './participant/wait.js'
export { Reasoning, type ReasonOptions, type ThoughtOptions, type ToolCall } from './reasoning/reasoning.js'
export type { ToolResult } from './tool-call/tool-result.js'
