import type { Extraction } from '@meup/agent-sdk/extract'

/** An invented response in the form of a provider, complete and as a stream. */
export interface Sample {
  readonly name: string
  readonly whole: unknown
  readonly stream: readonly unknown[]
  readonly expected: Extraction
  /** All generated tokens, including reasoning; absent if the provider does not count them. */
  readonly outputTokens?: number
}

export const thought = 'Three tests fail.\nI look at tokens.ts first.'
export const answer = 'Do not deploy: "refresh" fails.'
export const weather = { id: 'call_1', name: 'weather', arguments: { city: 'Ulm', days: 2 } }
export const weatherJson = '{"city": "Ulm", "days": 2}'

/** The expected extraction of most samples. */
export const found = (more: Partial<Extraction>): Extraction => ({
  reasoning: thought,
  format: 'parsed',
  source: 'reasoning_content',
  text: answer,
  toolCalls: [],
  opaque: [],
  ...more,
})

/** Splits a text into pieces like those of a stream. */
export const pieces = (text: string): string[] => text.match(/\s?\S{1,5}/g) ?? []
