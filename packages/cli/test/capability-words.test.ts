import { expect, test } from 'vitest'
import { parseAttempt, parseCapabilities } from '../src/lib/capabilities.js'
import { refused } from './support/refused.js'

test('capabilities are given as kinds, as JSON and as space.yaml has them', async () => {
  const words = ['chat', '{"tool":"notes/*"}', '{ tool: "notes/*" }', '{ kind: mcp.request, to: [a, b] }']
  expect(await parseCapabilities(words)).toEqual([
    'chat',
    { tool: 'notes/*' },
    { tool: 'notes/*' },
    { kind: 'mcp.request', to: ['a', 'b'] },
  ])
  expect(await parseAttempt(['{ kind: chat, to: [ben] }'])).toMatchObject({ kind: 'chat', to: ['ben'] })
})

test.for(['{tool:notes}', '{ tool }', '{ tool: ', '{ tool: "a/*" } b'])(
  '%j is no capability',
  async (word) => {
    await expect(parseCapabilities([word])).rejects.toThrow(
      refused('invalid_json', { option: '<capability>' }),
    )
  },
)
