import { type Tail, tailOf } from '@meup/safety'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { gate, seen } from './support.js'

const { guard } = gate()
const guarded = (text: string) => seen(guard(text))

describe('the raw thinking of a model is taken out', () => {
  test.for([
    ['<think>raw</think>answer', 'answer'],
    ['<thinking>raw\nmore</thinking>\nanswer', '\nanswer'],
    ['<THINK>raw</think> answer', ' answer'],
    ['I look. <think>raw</think>I see. <think>more</think>Done.', 'I look. I see. Done.'],
    ['<think>raw, and never ended', ''],
    ['I look.\n  <think>raw, and never ended', 'I look.\n  '],
    ['<think>a</think>b\n<think>raw', 'b\n'],
    ['I look. <think>raw, and never ended', 'I look. '],
    ['text <thinking>Ünd raw', 'text '],
    ['raw, begun by the template</think>answer', 'answer'],
    ['<think>raw <think>nested</think>still out</think>answer', 'answer'],
    ['<think>raw with `code` and ``` in it</think>answer', 'answer'],
    ['one ` alone <think>raw</think>answer', 'one ` alone answer'],
  ] as const)('%j', ([text, expected]) => {
    expect(guarded(text)).toBe(expected)
  })

  test('whatever stands around it and in it', () => {
    const word = fc.constantFrom('a ', 'b\n', '<i>', '``', '|')
    const words = fc.array(word, { maxLength: 6 }).map((all) => all.join(''))
    fc.assert(
      fc.property(words, words, words, (before, inside, after) => {
        const plain = `${before}${after}`.replaceAll('`', '')
        const text = `${before.replaceAll('`', '')}<think>RAW${inside}RAW</think>${after.replaceAll('`', '')}`
        expect(guarded(text)).toBe(plain)
      }),
    )
  })
})

describe('raw thinking that goes over several texts is taken out of each', () => {
  test.for([
    [['<think>', 'raw', 'more', '</think>', 'answer'], 'answer'],
    [['I look.\n<thi', 'nk>raw', `${'r '.repeat(300)}`, 'still</th', 'ink>answer'], 'I look.\n<thi|answer'],
    [['I look <think>raw', 'and raw', 'raw</think>answer'], 'I look |answer'],
    [['<thinking>raw', 'a `tick', 'raw</thinking>answer', 'and more'], 'answer|and more'],
    [
      ['Whether the tag <think>', 'is known, the tests say.', ' They pass.'],
      'Whether the tag <think>|is known, the tests say.| They pass.',
    ],
  ] as const)('%j', ([texts, expected]) => {
    let before: Tail | string = ''
    const shown = texts.map((text) => {
      const { text: seen } = guard(text, before)
      before = tailOf(before, text)
      return seen
    })
    expect(shown.filter((text) => text !== '').join('|')).toBe(expected)
  })
})

describe('what only speaks of it stays', () => {
  test.for([
    'The model writes `<think>` first and `</think>` last.',
    'Take it out:\n```\n<think>raw</think>\n```\nThat is all.',
    'Whether the tag <think> is known, the tests say.',
    'a < think and b > think',
    'It emits <think>, and then <think> before each answer.',
    '<thinker>and</thinker>',
  ])('%j', (text) => {
    expect(guarded(text)).toBe(text)
  })
})
