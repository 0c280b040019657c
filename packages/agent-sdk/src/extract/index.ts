export { type FoundReasoning, reasoningBy } from './custom-client.js'
export { extractReasoning } from './extract-reasoning.js'
export type {
  Extraction,
  ExtractOptions,
  Format,
  Source,
  StreamEvent,
  ToolCall,
  Usage,
} from './extraction.js'
export { jsonEvents } from './json-events.js'
export { ReasoningStream } from './reasoning-stream.js'
