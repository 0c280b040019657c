import type { Collector } from '../collector.js'
import type { Json } from '../json.js'
import { anthropicReader } from './anthropic.js'
import { bedrockReader } from './bedrock.js'
import { chatReader } from './chat.js'
import { cohereReader } from './cohere.js'
import { cohereV1Reader } from './cohere-v1.js'
import { geminiReader } from './gemini.js'
import { ollamaReader } from './ollama.js'
import { responsesReader } from './responses.js'

const families = [
  chatReader,
  anthropicReader,
  responsesReader,
  geminiReader,
  bedrockReader,
  cohereReader,
  cohereV1Reader,
  ollamaReader,
]

/** Readers for one response, whole or in chunks. Each takes what has its form, and leaves the rest alone. */
export const readersFor = (collector: Collector): ((chunk: Json) => void)[] =>
  families.map((family) => family(collector))
