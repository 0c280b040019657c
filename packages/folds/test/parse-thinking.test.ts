import { isPhase, parsePhaseLabel, parseThinking, phaseLabels } from '@meup/folds'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'

const parts = (text: string) => parseThinking('t', text).map(({ phase, content }) => [phase, content])

verifies('A05', 'five phases and their labels', () => {
  expect(phaseLabels).toEqual({
    thinking: '[思考]',
    plan: '[計画]',
    waiting_approval: '[承認待ち]',
    execute: '[実行]',
    error: '[エラー]',
  })
  for (const [phase, label] of Object.entries(phaseLabels)) expect(parsePhaseLabel(label)).toBe(phase)
  expect(parsePhaseLabel('[夢]')).toBeUndefined()
  expect(['plan', 'dream', 'toString', 7].map(isPhase)).toEqual([true, false, false, false])
})

describe('labels', () => {
  verifies('A07', 'map straight to phases', () => {
    expect(parseThinking('t', '[思考] a [計画] b [実行] c')).toEqual([
      { turn_id: 't', step_number: 0, phase: 'thinking', content: 'a' },
      { turn_id: 't', step_number: 1, phase: 'plan', content: 'b' },
      { turn_id: 't', step_number: 2, phase: 'execute', content: 'c' },
    ])
  })

  verifies('A07', 'win over what the lines look like', () => {
    expect(parts('[思考] 1. it failed\n2. plan:\n- b')).toEqual([['thinking', '1. it failed\n2. plan:\n- b']])
  })

  verifies('A07', 'may be late, repeated, empty, or within a line', () => {
    expect(parts('before it failed [計画] a [計画] b')).toEqual([
      ['thinking', 'before it failed'],
      ['plan', 'a'],
      ['plan', 'b'],
    ])
    expect(parts('[思考][計画]\n[承認待ち] ok?')).toEqual([['waiting_approval', 'ok?']])
    expect(parts('so I wait [承認待ち]for you[エラー]no')).toEqual([
      ['thinking', 'so I wait'],
      ['waiting_approval', 'for you'],
      ['error', 'no'],
    ])
  })
})

describe('lines', () => {
  verifies('A08', 'that are numbered are a plan', () => {
    expect(parts('I see.\n1. Read it\n2. Write it\nGood.')).toEqual([
      ['thinking', 'I see.'],
      ['plan', '1. Read it\n2. Write it'],
      ['thinking', 'Good.'],
    ])
    expect(parts('3.14 is a number')).toEqual([['thinking', '3.14 is a number']])
  })

  verifies('A08', 'with bullets are a plan after a line that announces one', () => {
    for (const word of ['My plan:', 'Steps', '次の手順']) {
      expect(parts(`${word}\n- a\n\n* b\n  and more\n・c\nSo.\n- d`)).toEqual([
        ['thinking', word],
        ['plan', '- a\n\n* b\n  and more\n・c'],
        ['thinking', 'So.\n- d'],
      ])
    }
    expect(parts('Ideas:\n- a\n- b')).toEqual([['thinking', 'Ideas:\n- a\n- b']])
    expect(parts('My explanation:\n- a')).toEqual([['thinking', 'My explanation:\n- a']])
  })

  verifies('A09', 'that tell of an error are errors', () => {
    for (const line of ['An ERROR came', 'it Failed', 'エラーです', '処理に失敗した']) {
      expect(parts(`Hm.\n${line}`)).toEqual([
        ['thinking', 'Hm.'],
        ['error', line],
      ])
    }
  })

  verifies('A10', 'are thinking otherwise', () => {
    expect(parseThinking('t', 'one plain line')).toEqual([
      { turn_id: 't', step_number: 0, phase: 'thinking', content: 'one plain line' },
    ])
    expect(parts('one\n\ntwo')).toEqual([['thinking', 'one\n\ntwo']])
  })
})

verifies('A10', 'blank text has no steps', () => {
  expect(['', '  \n', '\t', '[思考] ', '　'].flatMap((text) => parseThinking('t', text))).toEqual([])
})

test('no word of a text is lost or made up, and no step is blank', () => {
  const piece = fc.constantFrom(
    'a ',
    '1. b',
    '- c',
    'plan',
    'error',
    '\n',
    ' ',
    '[計画]',
    '[エラー]',
    '[x]',
    '失敗',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join('')
      const steps = parseThinking('t', text)
      const words = (all: string) =>
        all
          .replace(/\[(計画|エラー)\]/g, ' ')
          .split(/\s+/)
          .filter(Boolean)
      expect(steps.flatMap(({ content }) => words(content)).join('')).toBe(words(text).join(''))
      expect(steps.every(({ content }) => content.trim() !== '')).toBe(true)
      expect(steps.map(({ step_number }) => step_number)).toEqual(steps.map((_, index) => index))
    }),
  )
})
