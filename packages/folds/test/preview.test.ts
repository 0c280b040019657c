import { previewLines } from '@meup/folds'
import { expect, test } from 'vitest'
import { call, failure, result, start, toLog } from './support/log.js'
import { joined } from './support/shown.js'
import { foldTurns } from './support/turns.js'

test('the beginning of what a tool gave back is one line; nothing where nothing came', () => {
  const log = toLog([
    start('agent', 'Looking', { id: 'r' }),
    call('agent', 'memory_search', {}, { context: 'r', id: 'c' }),
    result('c', 'Found 3 documents matching "project updates"'),
    call('agent', 'shell', {}, { context: 'r', id: 'd' }),
    failure('d', `no\u001B[2J${' way'.repeat(40)}`),
    result('unknown', 'x'),
  ])
  const { steps } = foldTurns(log)
  const preview = (seq = 0) =>
    steps.filter(({ source }) => source.seq === seq).flatMap((step) => previewLines(step))
  expect(
    joined(log.flatMap((each) => preview(each.seq))),
  ).toBe(`    ▸ Found 3 documents matching "project updates"
    ▸ error: no[2J way way way way way way way way way way way way way way way way wa…`)
  expect(previewLines({ phase: 'execute', content: 'read -> ' })).toEqual([])
})
