import { Collector } from './collector.js'
import type { Extraction, ExtractOptions } from './extraction.js'
import { readersFor } from './families/all.js'
import { record } from './json.js'

/**
 * Reads the whole response of any provider, its JSON parsed. `null` = nothing in it makes sense, not even an empty answer.
 * It never throws.
 */
export function extractReasoning(
  response: unknown,
  { prefilled = false }: ExtractOptions = {},
): Extraction | null {
  const whole = record(response)
  if (whole === undefined) return null
  const collector = new Collector(prefilled)
  for (const read of readersFor(collector)) read(whole)
  return collector.end(true)
}
