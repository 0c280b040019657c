import type { Format, Source } from './extraction.js'

/** Where reasoning can be found. Where a response has it in several places, the first of them is taken. */
const chain = [
  { origin: 'reasoning', source: 'reasoning', format: 'parsed' },
  { origin: 'reasoning_content', source: 'reasoning_content', format: 'parsed' },
  { origin: 'anthropic', source: 'thinking', format: 'anthropic' },
  { origin: 'thinking', source: 'thinking', format: 'parsed' },
  { origin: 'reasoning_details', source: 'reasoning_details', format: 'parsed' },
  { origin: 'reasoning_text', source: 'reasoning_text', format: 'parsed' },
  { origin: 'summary', source: 'summary', format: 'parsed' },
  { origin: 'thought', source: 'thought', format: 'parsed' },
  { origin: 'reasoningContent', source: 'reasoningContent', format: 'parsed' },
  { origin: 'tool_plan', source: 'tool_plan', format: 'parsed' },
  { origin: 'tags', source: 'tags', format: 'think_tags' },
] as const satisfies readonly { origin: string; source: Source; format: Format }[]

export type Origin = (typeof chain)[number]['origin']

export interface Place {
  /** The lower, the more it is believed. */
  readonly rank: number
  readonly source: Source
  readonly format: Format
}

export const places = Object.fromEntries(
  chain.map(({ origin, source, format }, rank) => [origin, { rank, source, format }]),
) as Record<Origin, Place>
