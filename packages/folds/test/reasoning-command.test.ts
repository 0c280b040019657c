import { reasoningCommand, reasoningDetail, type ShownReasoning } from '@meup/folds'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { decision, joined, reasoning, turn } from './support/shown.js'

describe('/reasoning', () => {
  const document: ShownReasoning = {
    ...reasoning(
      2,
      decision('memory_search', {
        rationale: 'looked up prior context',
        parameters: { query: 'authentication', limit: 5 },
      }),
      decision('file_read', {
        rationale: 'read sanitizer implementation',
        parameters: { path: 'src/safety/sanitizer.rs' },
        size: { count: 4321, unit: 'bytes' },
      }),
    ),
    narrative: 'Searching memory, then reading the file.',
  }

  verifies('I22', 'has the short header in the active thread', () => {
    const thread = { turns: [turn(1), turn(2, { reasoning: document })], isActive: true }
    expect(joined(reasoningCommand('2', thread))).toBe(`  ┄ Reasoning — turn 2
  Narrative: "Searching memory, then reading the file."

  ┄ memory_search
    rationale: "looked up prior context"
    params:    { "query": "authentication", "limit": 5 }
    outcome:   success

  ┄ file_read
    rationale: "read sanitizer implementation"
    params:    { "path": "src/safety/sanitizer.rs" }
    outcome:   success (4,321 bytes)`)
  })

  verifies('I22', 'has the long header where the thread is named', () => {
    const long: ShownReasoning = {
      ...reasoning(
        2,
        decision('memory_search', {
          rationale: "searched memory for 'authentication design'",
          parameters: { query: 'authentication design', limit: 3 },
          size: { count: 2, unit: 'documents found' },
        }),
        decision('file_read', {
          rationale: 'reading the auth module to understand current implementation',
          parameters: { path: 'src/safety/sanitizer.rs' },
          size: { count: 4321, unit: 'bytes' },
        }),
      ),
      narrative: "I'll first search memory for context, then read the relevant file.",
    }
    const thread = { turns: [turn(2, { reasoning: long })], isActive: false }
    expect(joined(reasoningCommand('2', thread))).toBe(`  ┄ Reasoning — thread 7c9e6679, turn 2
  Narrative: "I'll first search memory for context, then read the relevant file."

  ┄ memory_search
    rationale: "searched memory for 'authentication design'"
    params:    { "query": "authentication design", "limit": 3 }
    outcome:   2 documents found

  ┄ file_read
    rationale: "reading the auth module to understand current implementation"
    params:    { "path": "src/safety/sanitizer.rs" }
    outcome:   success (4,321 bytes)`)
  })

  test('shows batches, too', () => {
    const batch = reasoning(1, decision('a', { parallel_group: 0 }), decision('b', { parallel_group: 0 }))
    expect(joined(reasoningDetail(batch, false))).toBe(`  ┄ Reasoning — turn 1

  ┄ [parallel batch 0]
  ┄   ↳ a
       rationale: "because"
       params:    {}
       outcome:   success

  ┄   ↳ b
       rationale: "because"
       params:    {}
       outcome:   success`)
  })

  const thread = {
    turns: [turn(1), turn(2), turn(3), turn(4, { state: 'running' })],
    isActive: true,
  }
  const headers = (argument: string) =>
    reasoningCommand(argument, thread).filter((line) => line.includes('Reasoning —'))

  test('shows the latest turn that has ended, the one that is asked for, or all', () => {
    expect(headers('')).toEqual(['  ┄ Reasoning — turn 3'])
    expect(headers(' 1 ')).toEqual(['  ┄ Reasoning — turn 1'])
    expect(headers('all')).toEqual(
      [1, 2, 3, 4].map((number) => `  ┄ Reasoning — thread 7c9e6679, turn ${number}`),
    )
    expect(reasoningCommand('all', thread).filter((line) => line === '')).toHaveLength(4 + 3)
  })

  verifies('I23', 'says in one line what it cannot show', () => {
    for (const asked of ['5', '0', '-1', 'abc', '1e9', '1000000000', '1.5', '99999999999999999999']) {
      expect(reasoningCommand(asked, thread)).toEqual([
        `  ✗ No reasoning data for turn ${asked} in this thread.`,
      ])
    }
    const bare = {
      turns: [turn(1, { tool_calls: [], reasoning: null }), turn(2, { reasoning: null })],
      isActive: true,
    }
    expect(reasoningCommand('1', bare)).toEqual(['  ─ Turn 1 had no tool calls.'])
    expect(reasoningCommand('2', bare)).toEqual(['  ─ No reasoning recorded for turn 2.'])
    const { reasoning: _, ...before } = turn(2)
    expect(reasoningCommand('2', { turns: [before], isActive: true })).toEqual([
      '  ─ No reasoning recorded for turn 2.',
    ])
    const pruned = turn(3, { tool_calls: [], reasoning: null, truncated: true })
    expect(reasoningCommand('3', { turns: [pruned], isActive: true })).toEqual([
      '  ─ No reasoning recorded for turn 3.',
    ])
    expect(reasoningCommand(`${'9'.repeat(30)}\u001B[2J`, thread)).toEqual([
      `  ✗ No reasoning data for turn ${'9'.repeat(19)}… in this thread.`,
    ])
  })

  test('says that there is nothing yet', () => {
    for (const asked of ['', 'all']) {
      expect(reasoningCommand(asked, { turns: [], isActive: true })).toEqual([
        '  ─ No turn has ended in this thread yet.',
      ])
    }
  })
})
