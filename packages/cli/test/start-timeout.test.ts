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
