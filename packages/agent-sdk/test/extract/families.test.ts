import { extractReasoning } from '@meup/agent-sdk/extract'
import { describe, expect, test } from 'vitest'
import { samples } from './support/all-samples.js'
import { asLines, asServerSent, parsed, said, streamed } from './support/streams.js'

const encoder = new TextEncoder()

describe.each(samples)('$name', (sample) => {
  const { whole, stream, expected } = sample

  test('whole', () => {
    expect(extractReasoning(whole)).toEqual(expected)
  })

  test('streamed', () => {
    expect(streamed(stream).extraction).toEqual(expected)
  })

  test('what is streamed is what it was', () => {
    const { events } = streamed(stream)
    const calls = events.flatMap((event) => {
      const { type, ...call } = event
      return type === 'toolCall' ? [call] : []
    })
    expect(said(events, 'reasoning')).toBe(expected.reasoning ?? '')
    expect(said(events, 'text')).toBe(expected.text)
    expect(calls).toEqual(expected.toolCalls)
    const counted = events.filter((event) => event.type === 'usage').at(-1)
    const { tokens } = expected
    expect(counted).toEqual(
      sample.outputTokens === undefined
        ? undefined
        : { type: 'usage', ...(tokens !== undefined && { tokens }), outputTokens: sample.outputTokens },
    )
  })

  test('streamed as one whole response', () => {
    expect(streamed([whole]).extraction).toEqual(expected)
  })

  test.each([
    ['server-sent events', asServerSent(stream)],
    ['lines', asLines(stream)],
  ])('as %s, split at every byte', async (_, text) => {
    const bytes = encoder.encode(text)
    const one = await parsed([...bytes].map((byte) => Uint8Array.of(byte)))
    expect(one).toEqual(stream)
    expect(streamed(one).extraction).toEqual(expected)
  })
})
