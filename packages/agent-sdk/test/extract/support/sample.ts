import type { Extraction } from '@meup/agent-sdk/extract'

/** One response in the form of a provider, whole and as a stream, made up for these tests. */
export interface Sample {
  readonly name: string
  readonly whole: unknown
  readonly stream: readonly unknown[]
  readonly expected: Extraction
  /** Tokens generated in all, thoughts among them, where the provider counts. */
  readonly outputTokens?: number
}

export const thought = 'Three tests fail.\nI look at tokens.ts first.'
export const answer = 'Do not deploy: "refresh" fails.'
export const weather = { id: 'call_1', name: 'weather', arguments: { city: 'Ulm', days: 2 } }
export const weatherJson = '{"city": "Ulm", "days": 2}'

/** Common parts of most samples. */
export const found = (more: Partial<Extraction>): Extraction => ({
  reasoning: thought,
  format: 'parsed',
  source: 'reasoning_content',
  text: answer,
  toolCalls: [],
  opaque: [],
  ...more,
})

/** A text in the pieces in which a model might write it. */
export const pieces = (text: string): string[] => text.match(/\s?\S{1,5}/g) ?? []
