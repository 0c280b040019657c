import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { loadConfig } from 'meup'

/** Capabilities in space.yaml, by participant; the first two participants are you and the coder. */
const [space] = loadConfig('space.yaml').spaces
const participants = Object.fromEntries(
  Object.entries(space?.config.participants ?? {}).map(([id, { capabilities }]) => [id, capabilities]),
)
const [you = '', coder = ''] = Object.keys(participants)

test('the coder may read and run the test; what else it does is proposed', async () => {
  await using space = await createTestSpace({ participants })
  const [person, agent] = [await space.join(you), await space.join(coder)]

  /** Calls a tool as the coder; resolves to the kind of envelope that the call leads to. */
  async function use(tool: string, args: object): Promise<string | undefined> {
    const envelopes = person.envelopes()
    agent.call(`${coder}/${tool}`, args).catch(() => {}) // No one answers the call.
    for await (const { from, kind } of envelopes) if (from === coder) return kind
    return undefined
  }
  equal(await use('read', { filePath: 'sum.js' }), 'mcp.request')
  equal(await use('bash', { command: 'node test.js' }), 'mcp.request')
  equal(await use('bash', { command: 'rm -rf .' }), 'mcp.proposal')
  equal(await use('edit', { filePath: 'sum.js' }), 'mcp.proposal')
})
