import { colourStyle, createStatusLines, previewLines } from '@meup/folds'
import { describe, expect, test } from 'vitest'
import { call, failure, result, start, toLog } from './support/log.js'
import { joined } from './support/shown.js'
import { foldTurns } from './support/turns.js'

describe('live lines', () => {
  const log = toLog([
    start('agent', 'Looking', { id: 'r' }),
    call('agent', 'memory_search', {}, { context: 'r', id: 'c' }),
    result('c', 'Found 3 documents matching "project updates"'),
    call('agent', 'shell', {}, { context: 'r', id: 'd' }),
    failure('d', `no\u001B[2J${' way'.repeat(40)}`),
    result('unknown', 'x'),
  ])

  test('tell what goes on as the document does', () => {
    const writeStatus = createStatusLines()
    const { steps } = foldTurns(log)
    const preview = (seq = 0) =>
      steps.filter(({ source }) => source.seq === seq).flatMap((step) => previewLines(step))
    expect(joined(log.flatMap((each) => [...writeStatus(each), ...preview(each.seq)]))).toBe(`  ○ Thinking...
  ○ memory_search
  ● memory_search
    ▸ Found 3 documents matching "project updates"
  ○ shell
  ● shell
    ▸ error: no[2J way way way way way way way way way way way way way way way way wa…`)
  })

  test('have names without secrets, and nothing where nothing came', () => {
    const key = `sk-ant-api03-${'Ab1'.repeat(30)}AA`
    const asked = toLog([call('agent', `read ${key}`, {}, { id: 'c' })])
    expect(asked.flatMap(createStatusLines())).toEqual(['  ○ read [redacted:anthropic-key]'])
    expect(previewLines({ phase: 'execute', content: 'read -> ' })).toEqual([])
  })

  test('are dim gray with cyan names in colour', () => {
    expect(log.slice(0, 2).flatMap(createStatusLines(colourStyle))).toEqual([
      '\u001B[2;90m  ○ Thinking...\u001B[0m',
      '\u001B[2;90m  ○ \u001B[0m\u001B[36mmemory_search\u001B[0m',
    ])
  })
})
