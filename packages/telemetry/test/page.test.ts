import { expect, test } from 'vitest'
import { readText } from '../../../test/support/packages.js'
import { call, conclusion, failure, propose, refused, result, start } from '../../folds/test/support/log.js'
import { foldSpans } from './support/spans.js'

/** A log whose spans have every attribute. */
const log = [
  start('bot', '', { id: 'run', correlationId: 'question', payload: { metadata: { model: 'm' } } }),
  call('bot', 'read', {}, { id: 'c1', context: 'run', rationale: 'why', parallelGroup: 0 }),
  failure('c1', ''),
  propose('bot', 'write', {}, { id: 'p1', context: 'run' }),
  call('ana', 'write', {}, { id: 'c2', correlationId: 'p1', context: 'run' }),
  result('c2', ''),
  refused('bot', { attemptedTool: 'write', attemptedId: 'c3', context: 'run' }),
  conclusion('bot', '', { context: 'run', payload: { metadata: { tokens: { input: 10, output: 2 } } } }),
]

test('the page on tracing has every attribute, and no other', () => {
  const received = foldSpans(log).flatMap(({ attributes, error }) => [
    ...Object.keys(attributes),
    ...(error === undefined ? [] : ['error.type']),
  ])
  const rows = readText('docs/tracing.md').matchAll(/^\| (`(?:gen_ai|meup|mcp|error)\.[^|]*)\|/gm)
  const documented = [...rows].flatMap(([, names = '']) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  )
  expect(new Set(documented)).toEqual(new Set([...received, 'error.type']))
  expect(documented.length).toBe(new Set(documented).size + 1) // `error.type` is also the heading of a table.
})
