import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { Type } from '@sinclair/typebox'

test('it advises against deploying while a test fails', async () => {
  await using space = await createTestSpace({ participants: { ana: ['*'], files: ['*'], reviewer: ['*'] } })
  const files = await space.join('files')
  const input = Type.Object({ path: Type.String() })
  files.tool('read_text_file', { input }, () => 'ok 1 signs in\nFAIL 2 token expires')
  await space.run('reviewer', () => import('./agent.js'))

  const ana = await space.join('ana')
  const { text } = await ana.ask('Can we deploy?', { to: ['reviewer'] })
  equal(text, 'I recommend against deploying: FAIL 2 token expires')
})
