import { extractReasoning } from '@meup/agent-sdk/extract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../../../../test/support/soak.js'
import { said, streamed } from './support/streams.js'

const seeded = { seed: 20261122, numRuns: times(700, 100_000) }

const bits = fc.constantFrom(
  ...[
    '<think>',
    '</think>',
    '<thinking>',
    '</thinking>',
    '<THINK>',
    '[THINK]',
    '[/THINK]',
    '◁think▷',
    '◁/think▷',
  ],
  ...['<|channel|>analysis<|message|>', '<|channel|>final<|message|>', '<|start|>assistant', '<|end|>'],
  ...[
    '<tool_call>',
    '</tool_call>',
    '<function=',
    '[TOOL_CALLS]',
    '<',
    '</',
    '<thi',
    '>',
    '`',
    '``',
    '```',
    '~~~',
  ],
  ...['\n', '\r\n', '\n\n', ' ', '> ', '- ', 'X', 'Y Z', '🛑', '\uD83D', 'é'],
)
const texts = fc.array(bits, { maxLength: 14 }).map((all) => all.join(''))
const delta = (content: string) => ({ choices: [{ delta: { content } }] })
const finish = { choices: [{ delta: {}, finish_reason: 'stop' }] }

/** Splits a text at these places, given as fractions of its length. */
const split = (text: string, places: readonly number[]): string[] => {
  const ends = [...places.map((place) => Math.floor(place * text.length)), text.length].sort((a, b) => a - b)
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end))
}
const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 })

test('however a text with tags is split, it says the same', () => {
  fc.assert(
    fc.property(texts, places, fc.boolean(), (content, cuts, prefilled) => {
      const response = { choices: [{ message: { content }, finish_reason: 'stop' }] }
      const whole = extractReasoning(response, { prefilled })
      for (const pieces of [split(content, cuts), content.split('')]) {
        const { extraction, events } = streamed([...pieces.map(delta), finish], { prefilled })
        expect(extraction).toEqual(whole)
        // The events invent no characters: each one occurs in the response.
        const characters = [...(said(events, 'reasoning') + said(events, 'text'))].filter(
          (each) => each.trim() !== '',
        )
        for (const each of new Set(characters)) expect(content.toLowerCase()).toContain(each.toLowerCase())
      }
    }),
    seeded,
  )
})

/** The letters of a text that do not occur in tags. */
const letters = (text: string): string[] => text.match(/[XYZé🛑]/gu)?.sort() ?? []

test('no letter of a text is lost, or said twice', () => {
  fc.assert(
    fc.property(texts, fc.boolean(), (content, prefilled) => {
      const extraction = extractReasoning({ choices: [{ message: { content } }] }, { prefilled })
      expect(letters(`${extraction?.reasoning ?? ''}${extraction?.text}`)).toEqual(letters(content))
    }),
    seeded,
  )
})
