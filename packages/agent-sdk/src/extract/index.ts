export { extractReasoning, type FoundReasoning, ReasoningStream, reasoningBy } from './extract-reasoning.js'
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
