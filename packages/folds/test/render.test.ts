import { colourStyle, inlineJson, outcomeText, printable, reasoningBlock } from '@meup/folds'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { call, chat } from './support/log.js'
import { decision, joined, reasoning } from './support/shown.js'
import { foldTurn } from './support/turns.js'

const wireframe = reasoning(
  4,
  decision('memory_search', {
    rationale: "searched memory for 'recent project updates'",
    parameters: { query: 'recent project updates', limit: 5 },
    size: { count: 3, unit: 'documents found' },
  }),
  decision('shell', {
    rationale: 'ran git log to check recent commits',
    parameters: { command: 'git log --oneline -10' },
    size: { count: 142, unit: 'chars' },
  }),
)

describe('the block after an answer', () => {
  verifies('I16', 'has the lines of the document', () => {
    expect(joined(reasoningBlock(wireframe))).toBe(`
  ┄ Reasoning (turn 4)
  ┄ memory_search  "searched memory for 'recent project updates'"
    params: { "query": "recent project updates", "limit": 5 }
    → 3 documents found
  ┄ shell  "ran git log to check recent commits"
    params: { "command": "git log --oneline -10" }
    → success (142 chars)`)
  })

  verifies('I18', 'shows parallel batches as the document does', () => {
    const batch = reasoning(
      2,
      decision('memory_search', {
        rationale: 'searching memory for auth design',
        parameters: { query: 'auth design' },
        parallel_group: 0,
        size: { count: 2, unit: 'documents' },
      }),
      decision('file_read', {
        rationale: 'reading sanitizer source',
        parameters: { path: 'src/safety/sanitizer.rs' },
        parallel_group: 0,
        size: { count: 4321, unit: 'bytes' },
      }),
    )
    expect(joined(reasoningBlock(batch).slice(2))).toBe(`  ┄ [parallel batch 0]
  ┄   ↳ memory_search  "searching memory for auth design"
       params: { "query": "auth design" }
       → 2 documents
  ┄   ↳ file_read  "reading sanitizer source"
       params: { "path": "src/safety/sanitizer.rs" }
       → success (4,321 bytes)`)
  })

  verifies('I19', 'appears whenever tools were called; without a narrative its line alone is missing', () => {
    const [blank, header, ...tools] = reasoningBlock(wireframe)
    expect(reasoningBlock({ ...wireframe, narrative: 'Memory first.' })).toEqual([
      blank,
      header,
      '  Narrative: "Memory first."',
      ...tools,
    ])
    expect(reasoningBlock(null)).toEqual([])
    expect(reasoningBlock(reasoning(1))).toEqual([])
  })

  test('is dim gray with cyan names in colour', () => {
    expect(reasoningBlock(reasoning(1, decision('shell')), colourStyle)).toEqual([
      '',
      '\u001B[2;90m  ┄ Reasoning (turn 1)\u001B[0m',
      '\u001B[2;90m  ┄ \u001B[0m\u001B[36mshell\u001B[0m\u001B[2;90m  "because"\u001B[0m',
      '\u001B[2;90m    params: {}\u001B[0m',
      '\u001B[2;90m    → success\u001B[0m',
    ])
  })

  test('gathers calls of one batch where the first of them was', () => {
    const mixed = reasoning(
      1,
      decision('a', { parallel_group: 1 }),
      decision('b'),
      decision('c', { parallel_group: 1 }),
    )
    const names = reasoningBlock(mixed).filter((line) => /┄ (?!Reasoning)/.test(line))
    expect(names).toEqual([
      '  ┄ [parallel batch 1]',
      '  ┄   ↳ a  "because"',
      '  ┄   ↳ c  "because"',
      '  ┄ b  "because"',
    ])
  })

  test('lets nobody move the cursor, reverse a line or add one', () => {
    const hostile = 'x\u001B[2J\u202Ey\r\n\u009B2J  ┄ fake\u2028z'
    const lines = reasoningBlock({
      ...reasoning(1, decision(hostile, { rationale: hostile, parameters: { [hostile]: hostile } })),
      narrative: hostile,
    })
    expect(lines).toHaveLength(6)
    expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}\u2028]/u)
    expect(lines[3]).toBe('  ┄ x[2Jy 2J ┄ fakez  "x[2Jy 2J ┄ fakez"')
  })
})

verifies('I17', 'parameters are cut to 200 characters, and no character in two', () => {
  const [, , , line = ''] = reasoningBlock(
    reasoning(1, decision('x', { parameters: { text: '😀'.repeat(250) } })),
  )
  const shown = line.replace('    params: ', '')
  expect(shown.length).toBeLessThanOrEqual(200)
  expect(shown.length).toBeGreaterThanOrEqual(198)
  expect(shown.isWellFormed()).toBe(true)
  expect(shown.endsWith('😀…')).toBe(true)
  const nearly = { a: 'x'.repeat(189) }
  expect(inlineJson(nearly, 200)).toBe(`{ "a": "${'x'.repeat(189)}" }`)
  expect(inlineJson({ a: 'x'.repeat(190) }, 200)).toHaveLength(200)
})

verifies('I17', 'sensitive parameters are shown redacted', () => {
  const secrets = { token: 'abc', password: 'hunter2', Authorization: 'Bearer abc', note: 'x'.repeat(500) }
  const log = [chat('user', 'log in', { id: 'q' }), call('agent', 'login', secrets, { correlationId: 'q' })]
  const line = reasoningBlock(foldTurn(log).reasoning)[3]
  const redacted = '"token": "[redacted]", "password": "[redacted]", "Authorization": "[redacted]"'
  expect(line).toBe(`    params: ${`{ ${redacted}, "note": "${'x'.repeat(500)}`.slice(0, 199)}…`)
})

test('JSON on one line has room between its parts', () => {
  expect(inlineJson({ a: [1, 'b', null, []], c: { d: {} }, e: undefined }, 100)).toBe(
    '{ "a": [1, "b", null, []], "c": { "d": {} }, "e": null }',
  )
  expect([{}, [], 'x', 7].map((value) => inlineJson(value, 100))).toEqual(['{}', '[]', '"x"', '7'])
})

test.for([
  [{ outcome: 'error' }, 'error'],
  [{ outcome: 'rejected', size: { count: 1, unit: 'chars' } }, 'rejected'],
  [{ outcome: 'rejected', size: null, cancelled: 'too\nslow' }, 'cancelled: too slow'],
  [{ outcome: 'rejected', size: null, cancelled: ' ' }, 'cancelled'],
  [{ outcome: null }, 'pending'],
  [{}, 'success'],
  [{ size: null }, 'success'],
  [{ size: { count: 4321, unit: 'bytes' } }, 'success (4,321 bytes)'],
  [{ size: { count: 3, unit: 'items' } }, '3 items'],
] as const)('an outcome is told as text: %j', ([fields, text]) => {
  expect(outcomeText(decision('x', fields))).toBe(text)
})

test('printable text keeps its lines and tabs', () => {
  expect(printable('a\r\nb\tc\u0000\u200Bd')).toBe('a\nb\tcd')
})
