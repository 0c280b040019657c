import { extractReasoning, ReasoningStream } from '@meup/agent-sdk/extract'
import { describe, expect, test } from 'vitest'
import { type TagCase, tagCases } from './support/tag-cases.js'

const getOptions = ({ prefilled }: TagCase) => (prefilled === undefined ? {} : { prefilled })

/** The expected result of a case, however its text is split. */
const expected = ({ reasoning, text, truncated }: TagCase) => ({
  reasoning,
  format: reasoning === null ? 'parsed' : 'think_tags',
  source: reasoning === null ? 'none' : 'tags',
  text,
  toolCalls: [],
  opaque: [],
  ...(truncated && { truncated }),
})

function streamed(given: TagCase, pieces: readonly string[]) {
  const stream = new ReasoningStream(getOptions(given))
  const events = [
    ...pieces.map((content) => ({ delta: { content } })),
    { delta: {}, finish_reason: 'stop' },
  ].flatMap((choice) => stream.push({ choices: [choice] }))
  const joinTexts = (type: string) =>
    events.map((event) => (event.type === type && 'text' in event ? event.text : '')).join('')
  return { extraction: stream.end(), events: { reasoning: joinTexts('reasoning'), text: joinTexts('text') } }
}

test('there are more than 60 cases', () => {
  expect(tagCases.length).toBeGreaterThan(60)
})

describe.each(tagCases)('$name', (given) => {
  test('whole', () => {
    const response = { choices: [{ message: { content: given.content }, finish_reason: 'stop' }] }
    expect(extractReasoning(response, getOptions(given))).toEqual(expected(given))
  })

  test('split at every place', () => {
    const { content } = given
    const places = Array.from({ length: content.length + 1 }, (_, index) => index)
    const ways = [...places.map((at) => [content.slice(0, at), content.slice(at)]), content.split('')]
    for (const pieces of ways) {
      const { extraction, events } = streamed(given, pieces)
      expect(extraction, JSON.stringify(pieces)).toEqual(expected(given))
      const final = { reasoning: given.reasoning ?? '', text: given.text }
      if (given.late) expect(events, JSON.stringify(pieces)).not.toEqual(final)
      else expect(events, JSON.stringify(pieces)).toEqual(final)
    }
  })
})
