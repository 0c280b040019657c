import { expect, test } from 'vitest'
import { configIn, folderWith } from './support/folder.js'

const parse = (participant: string) =>
  configIn(folderWith(), `version: 1\nspace: demo\nparticipants:\n  bot: ${participant}\n`).config.spaces[0]
    ?.programs.bot

test.each([
  ['{ kind: mcp, command: npx }', 120_000],
  ['{ kind: mcp, command: npx, startTimeout: 5m }', 300_000],
  ['{ kind: mcp, url: "https://tools.example/mcp", startTimeout: 500ms }', 500],
  ['{ kind: acp, agent: opencode }', 120_000],
  ['{ kind: acp, command: agent, startTimeout: 2s }', 2000],
  ['{ kind: process, command: node }', undefined],
  ['{ kind: process, command: node, startTimeout: 40s }', 40_000],
])('%s may take %s ms to start', (participant, ms) => {
  expect(parse(participant)?.startTimeoutMs).toBe(ms)
})

test.each([
  '{ kind: mcp, command: npx, startTimeout: 60 }',
  '{ kind: process, command: node, startTimeout: soon }',
  '{ kind: human, startTimeout: 60s }',
])('%s is a mistake', (participant) => {
  expect(() => parse(participant)).toThrow(/space\.yaml:4:/)
})

test.each([
  ['{ kind: mcp, command: npx }', undefined],
  ['{ kind: mcp, command: npx, limits: { callMs: 7200000 } }', 7_200_000],
  ['{ kind: mcp, url: "https://tools.example/mcp", limits: { callMs: 1 } }', 1],
])('a call of %s may take %s ms without progress', (participant, ms) => {
  expect(parse(participant)).toHaveProperty('kind', 'mcp')
  expect(parse(participant)).toEqual(
    ms === undefined
      ? expect.not.objectContaining({ callMs: expect.anything() })
      : expect.objectContaining({ callMs: ms }),
  )
})

test.each([
  '{ kind: mcp, command: npx, limits: { callMs: 0 } }',
  '{ kind: mcp, command: npx, limits: { callMs: 5m } }',
  '{ kind: process, command: node, limits: { callMs: 1000 } }',
])('%s is a mistake', (participant) => {
  expect(() => parse(participant)).toThrow(/space\.yaml:4:.*callMs/)
})
