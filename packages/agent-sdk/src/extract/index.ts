export { extractReasoning, type FoundReasoning, ReasoningStream, reasoningBy } from './extract-reasoning.js'
export type {
  ExtractedCall,
  ExtractedUsage,
  Extraction,
  ExtractionSource,
  ExtractOptions,
  Format,
  StreamEvent,
} from './extraction.js'
export { jsonEvents } from './json-events.js'
