import { ReasoningStream, type StreamEvent } from '@meup/agent-sdk/extract'
import { describe, expect, test } from 'vitest'
import { times } from '../../../../test/support/soak.js'
import { samples } from './support/all-samples.js'
import { rechunked } from './support/rechunk.js'
import { unframed, withRecordings } from './support/recordings.js'
import { asLines, asServerSent, parsed, said, streamed } from './support/streams.js'

/** The calls, and the final usage. */
const rest = (events: readonly StreamEvent[]) => [
  ...events.filter(({ type }) => type === 'toolCall'),
  events.findLast(({ type }) => type === 'usage'),
]
const joinTexts = (events: readonly StreamEvent[]) => ({
  reasoning: said(events, 'reasoning'),
  text: said(events, 'text'),
  rest: rest(events),
})

/** Reads a body that is pushed in pieces, split at these places. */
function pushed(body: string | Uint8Array, places: readonly number[]) {
  const stream = new ReasoningStream()
  const ends = [...places, body.length]
  const events = ends.flatMap((end, index) => stream.push(body.slice(ends[index - 1] ?? 0, end)))
  return { extraction: stream.end(), events }
}

describe.each(samples)('$name', ({ stream, expected }) => {
  const { events } = streamed(stream)

  test('every text in single characters', () => {
    const chunks = stream.flatMap(rechunked)
    const again = streamed(chunks)
    expect(again.extraction).toEqual(expected)
    expect(joinTexts(again.events)).toEqual(joinTexts(events))
  })

  test.each([
    ['server-sent events', asServerSent(stream)],
    ['lines', asLines(stream)],
  ])('the body itself: %s, in two at many places, and in single bytes', (_, body) => {
    const bytes = new TextEncoder().encode(body)
    const step = Math.ceil(bytes.length / times(3, 60))
    for (let at = 0; at <= bytes.length; at += step) {
      expect(pushed(bytes, [at]).extraction, `bytes, at ${at}`).toEqual(expected)
      expect(pushed(body, [at]).extraction, `text, at ${at}`).toEqual(expected)
    }
    const single = pushed(bytes, [...bytes.keys()])
    expect(single.extraction).toEqual(expected)
    expect(joinTexts(single.events)).toEqual(joinTexts(events))
  })

  test('each event as text', () => {
    for (const prefix of ['', 'data: ']) {
      const again = streamed(stream.map((chunk) => prefix + JSON.stringify(chunk)))
      expect(again.extraction).toEqual(expected)
      expect(joinTexts(again.events)).toEqual(joinTexts(events))
    }
  })
})

test(
  'what was recorded',
  withRecordings(async (recordings) => {
    const bodies = recordings.filter(({ body }) => body !== undefined)
    expect(bodies.length).toBeGreaterThan(10)
    const tried = bodies.filter((_, at) => at % times(3, 1) === 0)
    for (const { name, body = new Uint8Array(), isFramed } of tried) {
      const chunks = isFramed ? unframed(body) : await parsed([body])
      const { extraction, events } = streamed(chunks)
      const again = streamed(chunks.flatMap(rechunked))
      expect(again.extraction, name).toEqual(extraction)
      expect(joinTexts(again.events), name).toEqual(joinTexts(events))
      if (!isFramed) expect(pushed(body, [...body.keys()]).extraction, name).toEqual(extraction)
    }
  }),
  60_000,
)

test('hardly a sample has no texts to split', () => {
  const unsplit = samples.filter(({ stream }) => stream.flatMap(rechunked).length < stream.length + 10)
  expect(unsplit.map(({ name }) => name)).toEqual(['Gemini: thoughts that are not shown'])
})
